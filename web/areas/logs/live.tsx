/** Records as they arrive, newest first */
import { useEffect } from 'preact/hooks';
import { LiveTail, type TailedRecord } from '../../client/live-tail.ts';
import { renderText } from '../../frame/display-text.tsx';
import { projectScope } from '../../frame/project.ts';
import { Rows } from '../../lists/rows.tsx';
import { getRowClass, getRowLayout, renderCells } from './lines.tsx';
import { openId, openRecord, search } from './log-search.ts';

export const liveTail = new LiveTail();

const numberFormat = new Intl.NumberFormat('en');

const describeState = (): string => {
  const { status, reason } = liveTail.state.value;
  if (status === 'waiting') return reason;
  if (status === 'connecting') return 'Connecting …';
  if (status === 'paused')
    return `Paused. ${numberFormat.format(liveTail.pendingCount.value)} new records${liveTail.pendingCount.value > 5_000 ? ', of which the last 5,000 are available' : ''}.`;
  return 'Live.';
};

/** Describes the missing records that the server reported. */
const describeMissedRecords = (): string[] => {
  const { dropped, skipped, hasGap } = liveTail.missed.value;
  return [
    ...(dropped > 0
      ? [`${numberFormat.format(dropped)} records were dropped: the rate is too high for this page.`]
      : []),
    ...(skipped > 0
      ? [`${numberFormat.format(skipped)} records were not matched against the search: the rate is too high.`]
      : []),
    ...(hasGap ? ['Earlier records may be missing: they expired, or there were too many.'] : []),
  ];
};

const LiveToolbar = () => {
  const isPaused = liveTail.state.value.status === 'paused';
  return (
    <div class="toolbar live-bar">
      <span role="status">{renderText(describeState())}</span>
      <span>
        <b id="came">{numberFormat.format(liveTail.receivedCount.value)}</b> records received
        {liveTail.receivedCount.value > liveTail.records.value.length
          ? `, last ${numberFormat.format(liveTail.records.value.length)} shown`
          : ''}
        .
      </span>
      <button type="button" class="plain" onClick={() => (isPaused ? liveTail.resume() : liveTail.pause())}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      {describeMissedRecords().map((warning) => (
        <span key={warning} class="text-warn" role="status">
          {warning}
        </span>
      ))}
    </div>
  );
};

export const LiveRecords = () => {
  const scope = projectScope.value;
  useEffect(() => {
    liveTail.open({ signal: 'logs', ...(search.value === '' ? {} : { search: search.value }), ...scope });
    return () => liveTail.close();
  }, [search.value, scope]);
  return (
    <>
      <LiveToolbar />
      <Rows<TailedRecord>
        items={liveTail.records.value}
        label="Live log records"
        class="records"
        isDense={true}
        {...getRowLayout()}
        toKey={({ id }) => id}
        toClass={getRowClass}
        toCells={renderCells}
        openKey={openId.value}
        onOpen={(id) => {
          // New records would move the list while the user reads.
          liveTail.pause();
          openRecord(id);
        }}
      />
    </>
  );
};
