/** Queries of a view while it is displayed */
import { useEffect, useState } from 'preact/hooks';
import type { Answered, Call, Declared, Sent } from '../client/call.ts';
import { ApiQuery, type QueryState } from '../client/query.ts';
import { refreshes } from './time-range.ts';

/**
 * Sends a query when the view appears, and again when its parameters change or the page is refreshed. Cancels it when
 * the view is removed.
 */
export const useQuery = <Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation>,
): QueryState<Answered<Operation>> => {
  const [query] = useState(() => new ApiQuery(call));
  useEffect(() => {
    query.run(sent);
    return () => query.cancel();
  }, [JSON.stringify(sent), refreshes.value]);
  return query.state.value;
};
