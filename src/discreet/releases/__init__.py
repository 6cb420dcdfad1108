"""From a question to a result: choose the noise, plan, pay, ask; result types and the law of their errors."""
