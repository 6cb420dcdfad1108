"""Schema files, reports of whole tables, and forecasts of what questions would cost."""
