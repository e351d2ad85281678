/**
 * Flame graph of a trace: calls of one name with the same parent are one box, with its width in proportion to their
 * time
 */
import { useMemo, useState } from 'preact/hooks';
import { shownDuration } from '../../frame/durations.ts';
import { markedText, shownText } from '../../frame/shown-text.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import type { PlacedSpan } from './span-order.ts';

interface Call {
  readonly service: string;
  readonly name: string;
  readonly depth: number;
  readonly parent: Call | undefined;
  readonly children: Map<string, Call>;
  spans: number;
  failed: number;
  /** Time without child calls, and time including them */
  ownNs: number;
  totalNs: number;
}

const callOf = (service: string, name: string, parent: Call | undefined): Call => ({
  service,
  name,
  parent,
  depth: (parent?.depth ?? -1) + 1,
  children: new Map(),
  spans: 0,
  failed: 0,
  ownNs: 0,
  totalNs: 0,
});

/** Merges calls of one name with the same parent calls. */
const mergedOf = (placed: readonly PlacedSpan[]): Call => {
  const whole = callOf('', 'the trace', undefined);
  const path: Call[] = [];
  for (const { span, depth } of placed) {
    const parent = depth === 0 ? whole : (path[depth - 1] ?? whole);
    const key = `${span.service}\n${span.name}`;
    const call = parent.children.get(key) ?? callOf(span.service, span.name, parent);
    parent.children.set(key, call);
    path[depth] = call;
    call.spans++;
    call.failed += Number(span.status === 'error');
    call.ownNs += Number(span.selfTimeNs ?? span.durationNs);
  }
  addUp(whole);
  return whole;
};

/** Sums from the deepest level up, without recursion, because call chains may be long. */
const addUp = (whole: Call): void => {
  const all: Call[] = [whole];
  for (let at = 0; at < all.length; at++) all.push(...(all[at]?.children.values() ?? []));
  for (const call of all.toReversed())
    call.totalNs = call.ownNs + [...call.children.values()].reduce((sum, { totalNs }) => sum + totalNs, 0);
};

interface Box {
  readonly call: Call;
  readonly left: number;
  readonly width: number;
  readonly row: number;
}

/** Minimum width of a box, as a share of the total width; narrower ones are omitted */
const narrowest = 0.002;
const maxRows = 100;

const boxesOf = (from: Call): Box[] => {
  const boxes: Box[] = [{ call: from, left: 0, width: 1, row: 0 }];
  for (let at = 0; at < boxes.length; at++) {
    const { call, left, width, row } = boxes[at] as Box;
    if (row === maxRows) continue;
    let next = left;
    const children = [...call.children.values()].sort((one, other) => other.totalNs - one.totalNs);
    for (const child of children) {
      const share = (child.totalNs / Math.max(1, call.totalNs)) * width;
      if (share >= narrowest) boxes.push({ call: child, left: next, width: share, row: row + 1 });
      next += share;
    }
  }
  return boxes;
};

const boxHeight = 24;

/** Returns the text after the name of a call. */
const restOf = ({ service, spans, failed, ownNs, totalNs }: Call): string =>
  `${service === '' ? '' : `, ${service}`}, ${spans} spans${failed > 0 ? `, ${failed} failed` : ''}, ${shownDuration(totalNs)}, self time ${shownDuration(ownNs)}`;

export const Flame = ({ placed }: { readonly placed: readonly PlacedSpan[] }) => {
  const whole = useMemo(() => mergedOf(placed), [placed]);
  const [zoomed, setZoomed] = useState<Call>();
  const from = zoomed ?? whole;
  const boxes = useMemo(() => boxesOf(from), [from]);
  const rows = Math.max(...boxes.map(({ row }) => row)) + 1;
  return (
    <Scrolled class="flame" label="Flame graph: total duration of calls by name">
      {zoomed === undefined ? null : (
        <button type="button" class="plain" onClick={() => setZoomed(undefined)}>
          Entire trace
        </button>
      )}
      <div class="boxes" style={{ height: `${rows * boxHeight}px` }}>
        {boxes.map(({ call, left, width, row }, index) => (
          <button
            // A call has no unique name: the same one may occur below several parents.
            key={`${row} ${left} ${index}`}
            type="button"
            class={call.failed > 0 ? 'box failed' : 'box'}
            style={{ left: `${left * 100}%`, width: `${width * 100}%`, top: `${row * boxHeight}px` }}
            title={markedText(call.name + restOf(call))}
            onClick={() => setZoomed(call === whole ? undefined : call)}
          >
            {/* Boxes that are too narrow for their name provide it to screen readers. */}
            <span class={width > 0.03 ? '' : 'sr-only'}>{shownText(call.name)}</span>
            <span class="sr-only">{shownText(restOf(call))}</span>
          </button>
        ))}
      </div>
    </Scrolled>
  );
};
