"""The readout: ZV = Y, solved exactly."""
