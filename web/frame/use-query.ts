/** Hook that runs an API query while a view is displayed */
import { useEffect, useState } from 'preact/hooks';
import type { Call, CallInput, OperationDeclaration, ResponseBody } from '../client/call.ts';
import { ApiQuery, type QueryState } from '../client/query.ts';
import { refreshCount } from './time-range.ts';

/**
 * Sends a query when the view appears, and again when its parameters change or the page is refreshed. Cancels it when
 * the view is removed.
 */
export const useQuery = <Operation extends OperationDeclaration>(
  call: Call<Operation>,
  callInput: CallInput<Operation>,
): QueryState<ResponseBody<Operation>> => {
  const [query] = useState(() => new ApiQuery(call));
  useEffect(() => {
    query.run(callInput);
    return () => query.cancel();
  }, [JSON.stringify(callInput), refreshCount.value]);
  return query.state.value;
};
