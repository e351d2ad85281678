/** Side panel of an error group: status, stack trace, distribution of tags, and links */

import { useEffect, useState } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { toArea } from '../../frame/address.ts';
import { conditionOf } from '../../frame/conditions.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Raw } from '../../lists/raw.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type ErrorDetails, errorCall, occurrencesCall } from './calls.ts';
import { MergedIssues } from './members.tsx';
import { ErrorAssignee, formatStatus, StatusActions } from './steps.tsx';

type Frame = ErrorDetails['newest']['chain'][number]['frames'][number];

const formatFrame = (frame: Frame): string => {
  const { function: name, file, line, column } = frame;
  const sourceLocation = [file, line, column].filter((part) => part !== null).join(':');
  return [name, sourceLocation === '' ? undefined : `(${sourceLocation})`]
    .filter((part) => part !== undefined && part !== null)
    .join(' ');
};

const Stack = ({ newest }: { readonly newest: ErrorDetails['newest'] }) => {
  if (newest.chain.every(({ frames }) => frames.length === 0))
    return newest.stack === null ? (
      <p class="soft">No stack trace.</p>
    ) : (
      <Raw label="Original stack trace" text={newest.stack} />
    );
  return (
    <>
      {newest.chain.map(({ type, frames }, at) => (
        <div key={at}>
          <p>
            {at === 0 ? '' : 'caused by '}
            <b>{shownText(type ?? newest.type ?? 'Error')}</b>
          </p>
          <ol class="around">
            {frames.map((frame, index) => (
              <li key={index} class={frame.isInApp ? '' : 'soft'}>
                {shownText(formatFrame(frame))}
              </li>
            ))}
          </ol>
        </div>
      ))}
      {newest.stack === null ? null : (
        <details>
          <summary>Original stack trace</summary>
          <Raw label="Original stack trace" text={newest.stack} />
        </details>
      )}
    </>
  );
};

const ErrorLinks = ({ newest }: { readonly newest: ErrorDetails['newest'] }) => {
  const { traceId, spanId, logId, service } = newest;
  return (
    <ul class="links">
      {traceId === null ? null : (
        <li>
          <Link to={toArea(`/traces/${traceId}`, { span: spanId ?? '' })}>Trace</Link>
        </li>
      )}
      {logId === null ? null : (
        <li>
          <Link to={toArea('/logs', { record: logId })}>Log record</Link>
        </li>
      )}
      <li>
        <Link to={toArea('/logs', { search: `${conditionOf('service', service)} severity:>=error` })}>
          Error logs of {shownText(service)}
        </Link>
      </li>
      <li>
        <Link to={toArea('/services', { service })}>{shownText(service)}</Link>
      </li>
    </ul>
  );
};

/** Maximum number of displayed values of a tag */
const maxShownValues = 5;

const Tags = ({ tags }: { readonly tags: ErrorDetails['tags'] }) => (
  <table class="figures">
    <TableHeader columns={['Tag', 'Value', 'Count', 'Share']} />
    <tbody>
      {tags.flatMap(({ name, count, values }) =>
        values.slice(0, maxShownValues).map((value, at) => (
          <tr key={`${name} ${value.value}`}>
            <td>{at === 0 ? shownText(name) : ''}</td>
            <td>
              <bdi>{shownText(value.value)}</bdi>
            </td>
            <td>{value.count}</td>
            <td>{Math.round((100 * value.count) / count)} %</td>
          </tr>
        )),
      )}
    </tbody>
  </table>
);

const Occurrences = ({ id }: { readonly id: string }) => {
  const [occurrencePages] = useState(() => new Paged(occurrencesCall, ({ items }) => items));
  const { from, to } = writtenRange.value;
  useEffect(() => {
    occurrencePages.load({ params: { id }, query: { from, to, ...projectScope.value, limit: 20 } });
    return () => occurrencePages.cancel();
  }, [id, from, to, projectScope.value, refreshes.value]);
  return (
    <>
      <h3>Occurrences in this range</h3>
      <Problem error={occurrencePages.first.state.value.error ?? occurrencePages.furtherError.value} />
      <ul class="around">
        {occurrencePages.items.value.map(({ id, timestamp, service, message, traceId, spanId }) => (
          <li key={id}>
            {traceId === null ? (
              <time>{shownMoment(timestamp)}</time>
            ) : (
              <Link to={toArea(`/traces/${traceId}`, { span: spanId ?? '' })}>{shownMoment(timestamp)}</Link>
            )}{' '}
            <bdi>{shownText(service)}</bdi>: <bdi>{shownText(message)}</bdi>
          </li>
        ))}
      </ul>
      <ShowMore of={occurrencePages} />
    </>
  );
};

export const ErrorPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(errorCall, { params: { id }, query: { from, to, ...projectScope.value } });
  if (answer === undefined)
    return (
      <SidePanel label="Error" title="Error" onClose={onClose}>
        <Problem error={error} />
      </SidePanel>
    );
  const { type, message, count, users, firstSeen, lastSeen, status, culprit, environments, newest, tags } = answer;
  return (
    <SidePanel label="Error" title={type ?? 'Error'} onClose={onClose}>
      <Problem error={error} />
      <Raw label="Message" text={message} />
      <StatusActions key={status} error={answer} />
      <ErrorAssignee error={answer} />
      <ErrorLinks newest={newest} />
      <Fields
        values={{
          status: formatStatus(answer),
          events: count,
          users: typeof users === 'number' ? users : users.reason,
          culprit,
          'first seen': shownMoment(firstSeen),
          'last seen': shownMoment(lastSeen),
          environments: environments.join(', '),
          'grouping reason': answer.explanation.summary,
        }}
      />
      <h3>Latest stack trace</h3>
      <Stack newest={newest} />
      <h3>Tags</h3>
      <Tags tags={tags} />
      <Occurrences id={id} />
      <MergedIssues key={answer.decision.fingerprints.length} error={answer} />
    </SidePanel>
  );
};
