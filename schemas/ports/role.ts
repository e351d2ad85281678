/** What `main.ts` holds of a running role. */
export interface Role {
  readonly name: string;
  /** Rejects with what is missing while the role cannot do its work. */
  ready(): Promise<void>;
  /** What is missing while the role works all the same. */
  degraded?(): string | undefined;
  /** Tells clients of its own servers that these go soon, while it goes on to answer. */
  leave?(): Promise<unknown>;
  /** Finishes current work (requests answered, batches landed, offsets committed), then resolves. */
  stop(): Promise<void>;
  /** Rejects when the role cannot go on and the process should exit; else stays pending until `stop`. */
  readonly failed: Promise<void>;
}
