/** Paginated list of the API. Pages far from the visible rows are discarded, and reloaded when they become visible. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Call, CallInput, OperationDeclaration, ResponseBody } from './call.ts';
import { ApiQuery } from './query.ts';
import { CallError, request } from './request.ts';

/** Common fields of list pages */
interface Page {
  readonly nextCursor: string | null;
}

/** A page after the first one */
interface LaterPage<Body> {
  readonly cursor: string;
  readonly count: number;
  readonly nextCursor: string | null;
  /** `undefined` if it was discarded */
  readonly body: Body | undefined;
}

/** Number of pages in memory on each side of the visible rows */
const nearbyPages = 5;

export class PagedList<Operation extends OperationDeclaration, Item> {
  /** First page */
  readonly first: ApiQuery<Operation>;
  /** All items loaded so far; discarded items are `undefined` */
  readonly slots: ReadonlySignal<readonly (Item | undefined)[]>;
  /** Items in memory */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Whether more pages exist */
  readonly hasMore: ReadonlySignal<boolean>;
  /** Error of the last page that could not be loaded */
  readonly loadMoreError = signal<CallError | undefined>(undefined);
  /** Whether a page after the first one is loading */
  readonly isLoadingMore = signal(false);
  readonly #laterPages = signal<readonly LaterPage<ResponseBody<Operation>>[]>([]);
  readonly #toItems: (page: ResponseBody<Operation>) => readonly Item[];
  readonly #laterPageSize: number | undefined;
  #sent: CallInput<Operation> = {};
  #loadController: AbortController | undefined;
  #visibleRange: readonly [first: number, last: number] = [0, 0];

  /** `laterPageSize` is the size of the pages after the first one, which is smaller so that it loads fast. */
  constructor(
    call: Call<Operation>,
    itemsOf: (page: ResponseBody<Operation>) => readonly Item[],
    { laterPageSize }: { readonly laterPageSize?: number } = {},
  ) {
    this.first = new ApiQuery(call);
    this.#toItems = itemsOf;
    this.#laterPageSize = laterPageSize;
    this.slots = computed(() => {
      const slots: (Item | undefined)[] = [...this.#firstItems()];
      for (const { body, count } of this.#laterPages.value)
        slots.push(...(body === undefined ? new Array<undefined>(count).fill(undefined) : itemsOf(body)));
      return slots;
    });
    this.items = computed(() => this.slots.value.filter((item) => item !== undefined));
    this.hasMore = computed(() => this.#nextCursor() !== null);
  }

  #firstItems(): readonly Item[] {
    const { response } = this.first.state.value;
    return response === undefined ? [] : this.#toItems(response);
  }

  #nextCursor(): string | null {
    const last = this.#laterPages.value.at(-1) ?? (this.first.state.value.response as Page | undefined);
    return last?.nextCursor ?? null;
  }

  load(sent: CallInput<Operation>): void {
    this.cancel();
    this.#sent = sent;
    this.#visibleRange = [0, 0];
    this.#laterPages.value = [];
    this.loadMoreError.value = undefined;
    this.first.run(sent);
  }

  /** Reports the visible items. Loads missing and following pages, and discards distant pages. */
  reportVisible(first: number, last: number): void {
    this.#visibleRange = [first, last];
    const pages = this.#laterPages.peek();
    const near = this.#createNearTest(pages);
    if (pages.some(({ body }, index) => body !== undefined && !near(index, nearbyPages)))
      this.#laterPages.value = pages.map((page, index) =>
        near(index, nearbyPages) ? page : { ...page, body: undefined },
      );
    this.#loadMissing();
  }

  /** Returns a test for whether a page is within a distance of the visible rows. */
  #createNearTest(pages: readonly LaterPage<unknown>[]): (index: number, distance: number) => boolean {
    const [first, last] = this.#visibleRange;
    let at = this.#firstItems().length;
    const starts = pages.map(({ count }) => {
      at += count;
      return at - count;
    });
    const pageAt = (item: number): number => starts.findLastIndex((start) => start <= item);
    const [from, to] = [pageAt(first), pageAt(last)];
    return (index, away) => index >= from - away && index <= to + away;
  }

  #loadMissing(): void {
    if (this.#loadController !== undefined || this.first.state.peek().isLoading) return;
    const pages = this.#laterPages.peek();
    const near = this.#createNearTest(pages);
    const missing = pages.findIndex(({ body }, index) => body === undefined && near(index, 1));
    if (missing >= 0) this.#loadPage(pages[missing]?.cursor ?? '', missing);
    else if (this.#visibleRange[1] >= this.slots.peek().length - 1) this.loadMore();
  }

  /** Loads the next page, unless it is already loading. */
  loadMore(): void {
    const cursor = this.#nextCursor();
    if (cursor !== null && this.#loadController === undefined && !this.first.state.peek().isLoading)
      this.#loadPage(cursor, this.#laterPages.peek().length);
  }

  #loadPage(cursor: string, index: number): void {
    const cancel = new AbortController();
    this.#loadController = cancel;
    this.isLoadingMore.value = true;
    const limit = this.#laterPageSize;
    const query = { ...(this.#sent.query as object), ...(limit === undefined ? {} : { limit }), cursor };
    request(this.first.call, { ...this.#sent, query } as CallInput<Operation>, cancel.signal)
      .then(
        (body) => {
          if (cancel.signal.aborted) return;
          const page = { cursor, body, count: this.#toItems(body).length, nextCursor: (body as Page).nextCursor };
          this.#laterPages.value = this.#laterPages.peek().toSpliced(index, 1, page);
          this.loadMoreError.value = undefined;
        },
        (error: unknown) => {
          if (!cancel.signal.aborted && error instanceof CallError) this.loadMoreError.value = error;
        },
      )
      .finally(() => {
        if (this.#loadController !== cancel) return;
        this.#loadController = undefined;
        this.isLoadingMore.value = false;
      });
  }

  cancel(): void {
    this.#loadController?.abort();
    this.#loadController = undefined;
    this.isLoadingMore.value = false;
    this.first.cancel();
  }
}
