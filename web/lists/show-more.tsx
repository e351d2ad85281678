/** Button that loads the next page of a list, if there is one */
import type { PagedList } from '../client/pages.ts';

export const ShowMore = ({ list }: { readonly list: Pick<PagedList<never, never>, 'hasMore' | 'loadMore'> }) =>
  list.hasMore.value ? (
    <button type="button" class="plain" onClick={() => list.loadMore()}>
      Show more
    </button>
  ) : null;
