"""Smooth ANOVA models: functions of single features and of pairs, that can be drawn."""
