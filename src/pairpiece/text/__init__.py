"""How text becomes words, and the pieces that spell them."""
