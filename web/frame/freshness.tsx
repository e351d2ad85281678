/** Status of an API call: age of the response, missing data, error, and the curl command */
import type { QueryState } from '../client/query.ts';
import type { CallError } from '../client/request.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { renderText } from './display-text.tsx';
import { formatDuration } from './durations.ts';
import { formatClockTime } from './format-time.ts';
import { refresh } from './time-range.ts';

/** Returns the reasons of an incomplete response; empty if it is complete. */
const getPartialReasons = (result: object | undefined): readonly { readonly message: string }[] =>
  result !== undefined && 'partial' in result && Array.isArray(result.partial) ? result.partial : [];

/** Status line below the result of a call. */
export const Freshness = ({
  queryState: { isLoading, response, respondedAt, durationMs, curl, abortController },
}: {
  readonly queryState: QueryState<object>;
}) => (
  <p class="freshness">
    <span role="status">
      {isLoading ? 'Loading… ' : null}
      {isLoading && abortController !== undefined ? (
        <button type="button" class="mini" onClick={abortController}>
          Cancel
        </button>
      ) : null}
      {!isLoading && respondedAt !== undefined
        ? `Updated ${formatClockTime(respondedAt)} · ${formatDuration((durationMs ?? 0) * 1e6)}`
        : null}
      {getPartialReasons(response).map(({ message }) => `. Incomplete: ${message}.`)}
    </span>
    {curl === undefined ? null : <CopyButton key={curl} text={curl} label="Copy as curl" />}
  </p>
);

/** Hint about the next retry. Calls that change data are not retried automatically. */
const RetryHint = ({ seconds, isAutomatic }: { readonly seconds: number; readonly isAutomatic: boolean }) =>
  isAutomatic ? (
    <>
      {` Retrying in ${seconds} s. `}
      <button type="button" class="plain" onClick={refresh}>
        Retry now
      </button>
    </>
  ) : (
    <span>{` Retry in ${seconds} s.`}</span>
  );

/** Error of an API call */
export const ErrorMessage = ({ error }: { readonly error: CallError | undefined }) =>
  error === undefined ? null : (
    <p class="problem" role="alert">
      {renderText(error.message)}
      {error.retrySeconds === undefined ? null : (
        <RetryHint seconds={error.retrySeconds} isAutomatic={error.isRetrying} />
      )}
    </p>
  );
