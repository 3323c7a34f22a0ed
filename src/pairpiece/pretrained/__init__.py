"""Pretrained models of the source language, carried over to the new one."""
