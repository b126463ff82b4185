"""Workers of the service: learning as durable jobs, taken over when a worker dies."""
