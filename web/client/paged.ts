/** A list that the API answers page by page. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { ask, CallError } from './ask.ts';
import type { Answered, Call, Declared, Sent } from './call.ts';
import { Question } from './question.ts';

/** What every page of a list has. */
interface Page {
  readonly nextCursor: string | null;
}

export class Paged<Operation extends Declared, Item> {
  /** The first page. */
  readonly first: Question<Operation>;
  /** What was read of the list. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Whether there are pages that were not read. */
  readonly hasFurther: ReadonlySignal<boolean>;
  /** Why the next page did not come. */
  readonly furtherError = signal<CallError | undefined>(undefined);
  readonly #further = signal<readonly Answered<Operation>[]>([]);
  #sent: Sent<Operation> = {};
  #reading: AbortController | undefined;

  constructor(call: Call<Operation>, itemsOf: (page: Answered<Operation>) => readonly Item[]) {
    this.first = new Question(call);
    this.items = computed(() => this.#pages().flatMap(itemsOf));
    this.hasFurther = computed(() => this.#nextCursor() !== null);
  }

  #nextCursor(): string | null {
    return (this.#pages().at(-1) as Page | undefined)?.nextCursor ?? null;
  }

  #pages(): readonly Answered<Operation>[] {
    const { answer } = this.first.standing.value;
    return answer === undefined ? [] : [answer, ...this.#further.value];
  }

  ask(sent: Sent<Operation>): void {
    this.cancel();
    this.#sent = sent;
    this.#further.value = [];
    this.furtherError.value = undefined;
    this.first.ask(sent);
  }

  /** Asks for the next page, unless that is being done. */
  askFurther(): void {
    const cursor = this.#nextCursor();
    if (cursor === null || this.#reading !== undefined || this.first.standing.peek().isAsking) return;
    const cancel = new AbortController();
    this.#reading = cancel;
    const query = { ...(this.#sent.query as object), cursor };
    ask(this.first.call, { ...this.#sent, query } as Sent<Operation>, cancel.signal)
      .then(
        (page) => {
          if (!cancel.signal.aborted) this.#further.value = [...this.#further.peek(), page];
        },
        (error: unknown) => {
          if (!cancel.signal.aborted && error instanceof CallError) this.furtherError.value = error;
        },
      )
      .finally(() => {
        if (this.#reading === cancel) this.#reading = undefined;
      });
  }

  cancel(): void {
    this.#reading?.abort();
    this.#reading = undefined;
    this.first.cancel();
  }
}
