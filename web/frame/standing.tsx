/** How a call stands: how fresh the answer is, what was cut, what went wrong, and the call for a shell. */
import { useState } from 'preact/hooks';
import type { CallError } from '../client/ask.ts';
import type { Standing } from '../client/question.ts';
import { shownText } from './shown-text.tsx';
import { shownTime } from './shown-time.ts';

const CopyCurl = ({ curl }: { readonly curl: string }) => {
  const [said, setSaid] = useState('Copy as curl');
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(curl).then(
      () => setSaid('Copied'),
      () => setSaid('The browser does not let this page copy'),
    );
  return (
    <button type="button" class="plain" onClick={() => void copy()}>
      {said}
    </button>
  );
};

/** Why an answer says less than was asked, where it tells that. */
const partialOf = (answer: object | undefined): readonly { readonly message: string }[] =>
  answer !== undefined && 'partial' in answer && Array.isArray(answer.partial) ? answer.partial : [];

/** A line below what a call answered. */
export const Freshness = ({
  of: { isAsking, answer, answeredAt, tookMs, curl },
}: {
  readonly of: Standing<object>;
}) => (
  <p class="freshness">
    <span role="status">
      {isAsking ? 'Asking …' : null}
      {!isAsking && answeredAt !== undefined
        ? `As of ${shownTime(answeredAt, { withDate: false }).slice(0, 8)}, in ${Math.round(tookMs ?? 0)} ms.`
        : null}
      {partialOf(answer).map(({ message }) => ` Not complete: ${message}.`)}
    </span>
    {curl === undefined ? null : <CopyCurl key={curl} curl={curl} />}
  </p>
);

/** What went wrong with a call, unless that stands at a field. */
export const Problem = ({ error }: { readonly error: CallError | undefined }) =>
  error === undefined ? null : (
    <p class="problem" role="alert">
      {shownText(error.message)}
      {error.retrySeconds === undefined ? null : ` It is asked again in ${error.retrySeconds} s.`}
    </p>
  );
