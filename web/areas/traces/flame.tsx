/** Flame graph of a trace: calls with the same name and parent are one box, as wide as their share of the time */
import { useMemo, useState } from 'preact/hooks';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { markHiddenCharacters } from '../../frame/hidden-characters.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import type { OrderedSpan } from './span-order.ts';

interface MergedCall {
  readonly service: string;
  readonly name: string;
  readonly depth: number;
  readonly parent: MergedCall | undefined;
  readonly children: Map<string, MergedCall>;
  spanCount: number;
  failedCount: number;
  /** Self time, and time including child calls */
  selfTimeNs: number;
  totalNs: number;
}

const createCall = (service: string, name: string, parent: MergedCall | undefined): MergedCall => ({
  service,
  name,
  parent,
  depth: (parent?.depth ?? -1) + 1,
  children: new Map(),
  spanCount: 0,
  failedCount: 0,
  selfTimeNs: 0,
  totalNs: 0,
});

/** Merges calls with the same name and the same parent calls. */
const mergeCalls = (placed: readonly OrderedSpan[]): MergedCall => {
  const root = createCall('', 'the trace', undefined);
  const path: MergedCall[] = [];
  for (const { span, depth } of placed) {
    const parent = depth === 0 ? root : (path[depth - 1] ?? root);
    const key = `${span.service}\n${span.name}`;
    const call = parent.children.get(key) ?? createCall(span.service, span.name, parent);
    parent.children.set(key, call);
    path[depth] = call;
    call.spanCount++;
    call.failedCount += Number(span.status === 'error');
    call.selfTimeNs += Number(span.selfTimeNs ?? span.durationNs);
  }
  sumTotalTimes(root);
  return root;
};

/** Sums times from the deepest level up. A loop, not recursion: call chains can be long. */
const sumTotalTimes = (root: MergedCall): void => {
  const calls: MergedCall[] = [root];
  for (let index = 0; index < calls.length; index++) calls.push(...(calls[index]?.children.values() ?? []));
  for (const call of calls.toReversed())
    call.totalNs = call.selfTimeNs + [...call.children.values()].reduce((sum, { totalNs }) => sum + totalNs, 0);
};

interface Box {
  readonly call: MergedCall;
  readonly left: number;
  readonly width: number;
  readonly row: number;
}

/** Minimum width of a box as a share of the total width; narrower boxes are omitted */
const minWidth = 0.002;
const maxRows = 100;

const toBoxes = (rootCall: MergedCall): Box[] => {
  const boxes: Box[] = [{ call: rootCall, left: 0, width: 1, row: 0 }];
  for (let at = 0; at < boxes.length; at++) {
    const { call, left, width, row } = boxes[at] as Box;
    if (row === maxRows) continue;
    let childLeft = left;
    const children = [...call.children.values()].sort((one, other) => other.totalNs - one.totalNs);
    for (const child of children) {
      const childWidth = (child.totalNs / Math.max(1, call.totalNs)) * width;
      if (childWidth >= minWidth) boxes.push({ call: child, left: childLeft, width: childWidth, row: row + 1 });
      childLeft += childWidth;
    }
  }
  return boxes;
};

const boxHeight = 24;

/** Returns the text after the name of a call. */
const formatCallStats = ({ service, spanCount, failedCount, selfTimeNs, totalNs }: MergedCall): string =>
  `${service === '' ? '' : `, ${service}`}, ${spanCount} spans${failedCount > 0 ? `, ${failedCount} failed` : ''}, ${formatDuration(totalNs)}, self time ${formatDuration(selfTimeNs)}`;

export const Flame = ({ placed }: { readonly placed: readonly OrderedSpan[] }) => {
  const root = useMemo(() => mergeCalls(placed), [placed]);
  const [zoomedCall, setZoomedCall] = useState<MergedCall>();
  const shownRoot = zoomedCall ?? root;
  const boxes = useMemo(() => toBoxes(shownRoot), [shownRoot]);
  const rows = Math.max(...boxes.map(({ row }) => row)) + 1;
  return (
    <ScrollRegion class="flame" label="Flame graph: total duration of calls by name">
      {zoomedCall === undefined ? null : (
        <button type="button" class="plain" onClick={() => setZoomedCall(undefined)}>
          Entire trace
        </button>
      )}
      <div class="boxes" style={{ height: `${rows * boxHeight}px` }}>
        {boxes.map(({ call, left, width, row }, index) => (
          <button
            // Names are not unique: the same call can occur below several parents.
            key={`${row} ${left} ${index}`}
            type="button"
            class={call.failedCount > 0 ? 'box failed' : 'box'}
            style={{ left: `${left * 100}%`, width: `${width * 100}%`, top: `${row * boxHeight}px` }}
            title={markHiddenCharacters(call.name + formatCallStats(call))}
            onClick={() => setZoomedCall(call === root ? undefined : call)}
          >
            {/* If a box is too narrow for its name, only screen readers get the name. */}
            <span class={width > 0.03 ? '' : 'sr-only'}>{renderText(call.name)}</span>
            <span class="sr-only">{renderText(formatCallStats(call))}</span>
          </button>
        ))}
      </div>
    </ScrollRegion>
  );
};
