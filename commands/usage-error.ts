/** A mistake in how a command was called; its message is all that is printed. */
export class UsageError extends Error {}
