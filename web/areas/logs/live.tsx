/** Records as they arrive, newest first */
import { useEffect } from 'preact/hooks';
import { LiveTail, type TailedRecord } from '../../client/live-tail.ts';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { Rows } from '../../lists/rows.tsx';
import { renderCells, rowClass, rowLayout } from './lines.tsx';
import { openId, openRecord, search } from './log-search.ts';

export const tail = new LiveTail();

const number = new Intl.NumberFormat('en');

const describeState = (): string => {
  const { is, reason } = tail.state.value;
  if (is === 'waiting') return reason;
  if (is === 'connecting') return 'Connecting …';
  if (is === 'paused')
    return `Paused. ${number.format(tail.waiting.value)} new records${tail.waiting.value > 5_000 ? ', of which the last 5,000 are available' : ''}.`;
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
  const isPaused = tail.state.value.is === 'paused';
  return (
    <div class="toolbar live-bar">
      <span role="status">{shownText(describeState())}</span>
      <span>
        <b id="came">{number.format(tail.came.value)}</b> records received
        {tail.came.value > tail.records.value.length ? `, last ${number.format(tail.records.value.length)} shown` : ''}.
      </span>
      <button type="button" class="plain" onClick={() => (isPaused ? tail.goOn() : tail.pause())}>
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
        keyOf={({ id }) => id}
        classOf={rowClass}
        cellsOf={renderCells}
        open={openId.value}
        onOpen={(id) => {
          // New records would move the list while the user reads.
          tail.pause();
          openRecord(id);
        }}
      />
    </>
  );
};
