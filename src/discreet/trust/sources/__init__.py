"""Where records come from, batch by batch, in bounded memory."""
