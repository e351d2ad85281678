/** A running role, as `main.ts` holds it. */
export interface Role {
  readonly name: string;
  /** Rejects with the problem while the role cannot work. */
  checkReady(): Promise<void>;
  /** Returns the problem while the role works with restrictions. */
  getDegradation?(): string | undefined;
  /** Announces to clients of its own servers that the servers will close, while they still respond. */
  announceShutdown?(): Promise<unknown>;
  /** Finishes current work (responses sent, batches stored, offsets committed), then resolves. */
  stop(): Promise<void>;
  /** Rejects if the role cannot continue and the process should exit; otherwise pending until `stop`. */
  readonly failure: Promise<void>;
}
