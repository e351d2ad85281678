/** Availability of the servers of stores that may have several: each is probed, whether or not the platform uses it now. */

/** A server of a store. `probe` rejects if the server does not respond; the watch limits its time. */
export interface StoreMember {
  /** Host and port; `sentinel HOST:PORT` for a sentinel of Redis */
  readonly name: string;
  probe(): Promise<unknown>;
  /** Failures in a row that make the server unavailable: by default 2, because a connection may just have ended */
  readonly minFailures?: number;
}

export interface UnavailableMember {
  /** Name of the store: `ClickHouse` */
  readonly store: string;
  readonly name: string;
  readonly reason: string;
  /** Epoch milliseconds */
  readonly sinceMs: number;
}

/** The watched servers of one store. */
export interface MemberWatch {
  isUnavailable(name: string): boolean;
  /** Calls `listener` after each change; returns a function that ends this. */
  subscribe(listener: () => void): () => void;
  close(): void;
}

/**
 * Probes servers every second. One that rejects connections is unavailable within two seconds, one that does not respond
 * within four. Each change is logged with the name of the server, and counted in `oiq_store_server_up`.
 */
export interface StoreMembers {
  /** `list` returns the servers that the store has now; those that it no longer returns are forgotten. */
  watch(store: string, list: () => readonly StoreMember[]): MemberWatch;
  listUnavailable(): readonly UnavailableMember[];
}
