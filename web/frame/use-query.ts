/** What a view asks for as long as it is shown. */
import { useEffect, useState } from 'preact/hooks';
import type { Answered, Call, Declared, Sent } from '../client/call.ts';
import { type QueryState, Question } from '../client/query.ts';
import { refreshes } from './time-range.ts';

/** Asks when the view appears, again when what is sent changes or everything is read anew, and ends the call when the view goes. */
export const useQuery = <Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation>,
): QueryState<Answered<Operation>> => {
  const [query] = useState(() => new Question(call));
  useEffect(() => {
    query.run(sent);
    return () => query.cancel();
  }, [JSON.stringify(sent), refreshes.value]);
  return query.state.value;
};
