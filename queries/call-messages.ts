/** Messages between `worker.ts` and its threads. */

export interface CallRequest {
  readonly id: number;
  /** Module that registers what the called module needs, imported first. */
  readonly setup?: string | undefined;
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type CallReply = { readonly id: number } & ({ readonly result: unknown } | { readonly error: unknown });
