"""From aligned word pairs to a vocabulary and c(t, s)."""
