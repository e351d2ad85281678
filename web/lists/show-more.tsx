/** Loads the next page of a list, if there is one */
import type { Paged } from '../client/pages.ts';

export const ShowMore = ({ of: list }: { readonly of: Pick<Paged<never, never>, 'hasFurther' | 'loadMore'> }) =>
  list.hasFurther.value ? (
    <button type="button" class="plain" onClick={() => list.loadMore()}>
      Show more
    </button>
  ) : null;
