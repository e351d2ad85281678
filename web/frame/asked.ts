/** What a view asks for as long as it is shown. */
import { useEffect, useState } from 'preact/hooks';
import type { Answered, Call, Declared, Sent } from '../client/call.ts';
import { Question, type Standing } from '../client/question.ts';
import { refreshes } from './time-range.ts';

/** Asks when the view appears, again when what is sent changes or everything is read anew, and ends the call when the view goes. */
export const useAsked = <Operation extends Declared>(
  call: Call<Operation>,
  sent: Sent<Operation>,
): Standing<Answered<Operation>> => {
  const [asked] = useState(() => new Question(call));
  useEffect(() => {
    asked.ask(sent);
    return () => asked.cancel();
  }, [JSON.stringify(sent), refreshes.value]);
  return asked.standing.value;
};
