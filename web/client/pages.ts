/**
 * A paginated list of the API. Pages far from the visible rows are discarded, and loaded again when they become
 * visible.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Answered, Call, Declared, Sent } from './call.ts';
import { ApiQuery } from './query.ts';
import { CallError, request } from './request.ts';

/** Common fields of list pages */
interface Page {
  readonly nextCursor: string | null;
}

/** A page after the first one */
interface FurtherPage<Answer> {
  readonly cursor: string;
  readonly count: number;
  readonly nextCursor: string | null;
  /** `undefined` if it was discarded */
  readonly answer: Answer | undefined;
}

/** Number of pages in memory on each side of the visible rows */
const nearbyPages = 5;

export class Paged<Operation extends Declared, Item> {
  /** First page */
  readonly first: ApiQuery<Operation>;
  /** All items read so far; `undefined` for discarded ones */
  readonly slots: ReadonlySignal<readonly (Item | undefined)[]>;
  /** Items in memory */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Whether more pages exist */
  readonly hasFurther: ReadonlySignal<boolean>;
  /** Why the next page could not be loaded */
  readonly furtherError = signal<CallError | undefined>(undefined);
  /** Whether a page after the first one is loading */
  readonly isReading = signal(false);
  readonly #further = signal<readonly FurtherPage<Answered<Operation>>[]>([]);
  readonly #itemsOf: (page: Answered<Operation>) => readonly Item[];
  readonly #furtherLimit: number | undefined;
  #sent: Sent<Operation> = {};
  #reading: AbortController | undefined;
  #seen: readonly [first: number, last: number] = [0, 0];

  /** `furtherLimit` is the size of pages after the first one, which is small to load fast. */
  constructor(
    call: Call<Operation>,
    itemsOf: (page: Answered<Operation>) => readonly Item[],
    { furtherLimit }: { readonly furtherLimit?: number } = {},
  ) {
    this.first = new ApiQuery(call);
    this.#itemsOf = itemsOf;
    this.#furtherLimit = furtherLimit;
    this.slots = computed(() => {
      const slots: (Item | undefined)[] = [...this.#firstItems()];
      for (const { answer, count } of this.#further.value)
        slots.push(...(answer === undefined ? new Array<undefined>(count).fill(undefined) : itemsOf(answer)));
      return slots;
    });
    this.items = computed(() => this.slots.value.filter((item) => item !== undefined));
    this.hasFurther = computed(() => this.#nextCursor() !== null);
  }

  #firstItems(): readonly Item[] {
    const { answer } = this.first.state.value;
    return answer === undefined ? [] : this.#itemsOf(answer);
  }

  #nextCursor(): string | null {
    const last = this.#further.value.at(-1) ?? (this.first.state.value.answer as Page | undefined);
    return last?.nextCursor ?? null;
  }

  load(sent: Sent<Operation>): void {
    this.cancel();
    this.#sent = sent;
    this.#seen = [0, 0];
    this.#further.value = [];
    this.furtherError.value = undefined;
    this.first.run(sent);
  }

  /** Reports the visible items: missing and following ones are loaded, and distant ones are discarded. */
  seen(first: number, last: number): void {
    this.#seen = [first, last];
    const pages = this.#further.peek();
    const near = this.#near(pages);
    if (pages.some(({ answer }, index) => answer !== undefined && !near(index, nearbyPages)))
      this.#further.value = pages.map((page, index) =>
        near(index, nearbyPages) ? page : { ...page, answer: undefined },
      );
    this.#readOn();
  }

  /** Returns a test for whether a page is within a distance of the visible rows. */
  #near(pages: readonly FurtherPage<unknown>[]): (index: number, away: number) => boolean {
    const [first, last] = this.#seen;
    let at = this.#firstItems().length;
    const starts = pages.map(({ count }) => {
      at += count;
      return at - count;
    });
    const pageAt = (item: number): number => starts.findLastIndex((start) => start <= item);
    const [from, to] = [pageAt(first), pageAt(last)];
    return (index, away) => index >= from - away && index <= to + away;
  }

  #readOn(): void {
    if (this.#reading !== undefined || this.first.state.peek().isLoading) return;
    const pages = this.#further.peek();
    const near = this.#near(pages);
    const missing = pages.findIndex(({ answer }, index) => answer === undefined && near(index, 1));
    if (missing >= 0) this.#read(pages[missing]?.cursor ?? '', missing);
    else if (this.#seen[1] >= this.slots.peek().length - 1) this.loadMore();
  }

  /** Loads the next page, unless it is already loading. */
  loadMore(): void {
    const cursor = this.#nextCursor();
    if (cursor !== null && this.#reading === undefined && !this.first.state.peek().isLoading)
      this.#read(cursor, this.#further.peek().length);
  }

  #read(cursor: string, place: number): void {
    const cancel = new AbortController();
    this.#reading = cancel;
    this.isReading.value = true;
    const limit = this.#furtherLimit;
    const query = { ...(this.#sent.query as object), ...(limit === undefined ? {} : { limit }), cursor };
    request(this.first.call, { ...this.#sent, query } as Sent<Operation>, cancel.signal)
      .then(
        (answer) => {
          if (cancel.signal.aborted) return;
          const page = { cursor, answer, count: this.#itemsOf(answer).length, nextCursor: (answer as Page).nextCursor };
          this.#further.value = this.#further.peek().toSpliced(place, 1, page);
          this.furtherError.value = undefined;
        },
        (error: unknown) => {
          if (!cancel.signal.aborted && error instanceof CallError) this.furtherError.value = error;
        },
      )
      .finally(() => {
        if (this.#reading !== cancel) return;
        this.#reading = undefined;
        this.isReading.value = false;
      });
  }

  cancel(): void {
    this.#reading?.abort();
    this.#reading = undefined;
    this.isReading.value = false;
    this.first.cancel();
  }
}
