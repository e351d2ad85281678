/** Reads the next page of a list, where there is one. */
import type { Paged } from '../client/paged.ts';

export const ShowMore = ({ of: list }: { readonly of: Pick<Paged<never, never>, 'hasFurther' | 'askFurther'> }) =>
  list.hasFurther.value ? (
    <button type="button" class="plain" onClick={() => list.askFurther()}>
      Show more
    </button>
  ) : null;
