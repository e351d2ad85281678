/** An error in the usage of a command; only its message is printed. */
export class UsageError extends Error {}
