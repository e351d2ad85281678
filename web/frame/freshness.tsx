/** Status of a call: age of the response, truncation, errors, and the shell command */
import { useState } from 'preact/hooks';
import type { QueryState } from '../client/query.ts';
import type { CallError } from '../client/request.ts';
import { shownText } from './shown-text.tsx';
import { clockTime } from './shown-time.ts';
import { refresh } from './time-range.ts';

const CopyCurl = ({ curl }: { readonly curl: string }) => {
  const [label, setLabel] = useState('Copy as curl');
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(curl).then(
      () => setLabel('Copied'),
      () => setLabel('The browser does not allow this page to copy'),
    );
  return (
    <button type="button" class="plain" onClick={() => void copy()}>
      {label}
    </button>
  );
};

/** Returns why a response is incomplete, if it contains a reason. */
const partialOf = (answer: object | undefined): readonly { readonly message: string }[] =>
  answer !== undefined && 'partial' in answer && Array.isArray(answer.partial) ? answer.partial : [];

/** Status line below the result of a call. */
export const Freshness = ({
  of: { isLoading, answer, answeredAt, durationMs, curl, cancel },
}: {
  readonly of: QueryState<object>;
}) => (
  <p class="freshness">
    <span role="status">
      {isLoading ? 'Loading… ' : null}
      {isLoading && cancel !== undefined ? (
        <button type="button" class="mini" onClick={cancel}>
          Cancel
        </button>
      ) : null}
      {!isLoading && answeredAt !== undefined
        ? `Updated ${clockTime(answeredAt)}, took ${Math.round(durationMs ?? 0)} ms.`
        : null}
      {partialOf(answer).map(({ message }) => ` Incomplete: ${message}.`)}
    </span>
    {curl === undefined ? null : <CopyCurl key={curl} curl={curl} />}
  </p>
);

/** Time of a retry. Changes requested by a user are not retried automatically. */
const Again = ({ seconds, byItself }: { readonly seconds: number; readonly byItself: boolean }) =>
  byItself ? (
    <>
      {` Retrying in ${seconds} s. `}
      <button type="button" class="plain" onClick={refresh}>
        Retry now
      </button>
    </>
  ) : (
    <span>{` Retry in ${seconds} s.`}</span>
  );

/** Error of a call, unless a field displays it. */
export const Problem = ({ error }: { readonly error: CallError | undefined }) =>
  error === undefined ? null : (
    <p class="problem" role="alert">
      {shownText(error.message)}
      {error.retrySeconds === undefined ? null : <Again seconds={error.retrySeconds} byItself={error.isRetrying} />}
    </p>
  );
