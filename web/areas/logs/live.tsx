/** Records as they arrive, newest first */
import { useEffect } from 'preact/hooks';
import { LiveTail, type TailedRecord } from '../../client/live-tail.ts';
import { projectScope } from '../../frame/project.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { Rows } from '../../lists/rows.tsx';
import { renderCells, rowClass, rowLayout } from './lines.tsx';
import { openId, openRecord, search } from './log-search.ts';

export const tail = new LiveTail();

const number = new Intl.NumberFormat('en');

const describeState = (): string => {
  const { status, reason } = tail.state.value;
  if (status === 'waiting') return reason;
  if (status === 'connecting') return 'Connecting …';
  if (status === 'paused')
    return `Paused. ${number.format(tail.pendingCount.value)} new records${tail.pendingCount.value > 5_000 ? ', of which the last 5,000 are available' : ''}.`;
  return 'Live.';
};

/** Describes the missing records that the server reported. */
const describeMissedRecords = (): string[] => {
  const { dropped, skipped, hasGap } = tail.missed.value;
  return [
    ...(dropped > 0 ? [`${number.format(dropped)} records were dropped: the rate is too high for this page.`] : []),
    ...(skipped > 0
      ? [`${number.format(skipped)} records were not matched against the search: the rate is too high.`]
      : []),
    ...(hasGap ? ['Earlier records may be missing: they expired, or there were too many.'] : []),
  ];
};

const LiveToolbar = () => {
  const isPaused = tail.state.value.status === 'paused';
  return (
    <div class="toolbar live-bar">
      <span role="status">{renderText(describeState())}</span>
      <span>
        <b id="came">{number.format(tail.receivedCount.value)}</b> records received
        {tail.receivedCount.value > tail.records.value.length
          ? `, last ${number.format(tail.records.value.length)} shown`
          : ''}
        .
      </span>
      <button type="button" class="plain" onClick={() => (isPaused ? tail.resume() : tail.pause())}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      {describeMissedRecords().map((notice) => (
        <span key={notice} class="text-warn" role="status">
          {notice}
        </span>
      ))}
    </div>
  );
};

export const LiveRecords = () => {
  const scope = projectScope.value;
  useEffect(() => {
    tail.open({ signal: 'logs', ...(search.value === '' ? {} : { search: search.value }), ...scope });
    return () => tail.close();
  }, [search.value, scope]);
  return (
    <>
      <LiveToolbar />
      <Rows<TailedRecord>
        items={tail.records.value}
        label="Live log records"
        class="records"
        {...rowLayout()}
        toKey={({ id }) => id}
        toClass={rowClass}
        toCells={renderCells}
        openKey={openId.value}
        onOpen={(id) => {
          // New records would move the list while the user reads.
          tail.pause();
          openRecord(id);
        }}
      />
    </>
  );
};
