"""The forms that the gradients of single samples have, before they are written out."""
