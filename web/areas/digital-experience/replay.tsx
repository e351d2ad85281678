/** Player of a recorded session, in a frame that loads nothing */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlayerCommand, PlayerReport } from '../../browser-script/player-messages.ts';
import { formatNumber } from '../../charts/values.ts';
import { type CallError, request } from '../../client/request.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { type ReplayGap, replayCall } from './calls.ts';
import { formatMs } from './session-format.tsx';

/** A request to play from an offset. Each is another object, so that the same offset can be requested again. */
export interface PlayRequest {
  readonly offsetMs: number;
}

interface Recording {
  readonly startMs: number;
  readonly lengthMs: number;
  readonly gaps: readonly ReplayGap[];
  readonly isComplete: boolean;
}

const emptyRecording: Recording = { startMs: 0, lengthMs: 0, gaps: [], isComplete: false };
const speeds = [1, 2, 4, 8] as const;

/** Reads all pages of a recording, and passes the events of each on. */
const loadRecording = async (
  id: string,
  signal: AbortSignal,
  addEvents: (events: readonly unknown[]) => void,
  setRecording: (recording: Recording) => void,
): Promise<void> => {
  let cursor: string | undefined;
  let gaps: readonly ReplayGap[] = [];
  do {
    const query = { ...projectScope.value, ...(cursor !== undefined && { cursor }) };
    const page = await request(replayCall, { params: { id }, query }, signal);
    addEvents(page.events);
    cursor = page.nextCursor ?? undefined;
    gaps = [...gaps, ...page.gaps];
    const [startMs, endMs] = [page.startMs ?? 0, page.endMs ?? 0];
    setRecording({ startMs, lengthMs: Math.max(1, endMs - startMs), gaps, isComplete: cursor === undefined });
  } while (cursor !== undefined);
};

const percent = (share: number): string => `${Math.min(100, Math.max(0, share * 100)).toFixed(2)}%`;

const Gaps = ({ recording: { startMs, lengthMs, gaps } }: { readonly recording: Recording }) =>
  gaps.length === 0 ? null : (
    <>
      <div class="replay-gaps" aria-hidden="true">
        {gaps.map(({ tab, first, from, to }) => (
          <i
            key={`${tab} ${first}`}
            style={{ left: percent((from - startMs) / lengthMs), width: percent((to - from) / lengthMs) }}
          />
        ))}
      </div>
      <p class="soft">
        {formatNumber(gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0))} events are missing in{' '}
        {formatNumber(gaps.length)} {gaps.length === 1 ? 'gap' : 'gaps'}: they did not arrive, or were dropped.
      </p>
    </>
  );

interface ReplayProps {
  readonly id: string;
  readonly playRequest: PlayRequest | undefined;
  readonly onTime: (offsetMs: number) => void;
}

export const Replay = ({ id, playRequest, onTime }: ReplayProps) => {
  const frame = useRef<HTMLIFrameElement>(null);
  const [recording, setRecording] = useState(emptyRecording);
  const [error, setError] = useState<CallError>();
  const [{ offsetMs, isPlaying }, setPosition] = useState({ offsetMs: 0, isPlaying: false });
  const [settings, setSettings] = useState({ speed: 1, skipsInactivity: true });
  const send = (command: PlayerCommand): void => frame.current?.contentWindow?.postMessage(command, location.origin);

  useEffect(() => {
    const cancel = new AbortController();
    const receive = ({ source, origin, data }: MessageEvent<PlayerReport>): void => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return;
      if (data.report === 'time') {
        setPosition(data);
        onTime(data.offsetMs);
        return;
      }
      loadRecording(id, cancel.signal, (events) => send({ command: 'add', events }), setRecording).catch(
        (cause: CallError) => {
          if (!cancel.signal.aborted) setError(cause);
        },
      );
    };
    addEventListener('message', receive);
    return () => {
      cancel.abort();
      removeEventListener('message', receive);
    };
  }, [id]);
  useEffect(() => {
    if (playRequest !== undefined && recording.isComplete)
      send({ command: 'play', offsetMs: Math.min(playRequest.offsetMs, recording.lengthMs) });
  }, [playRequest, recording.isComplete]);
  useEffect(() => send({ command: 'configure', ...settings }), [settings, recording.isComplete]);

  const isAtEnd = offsetMs >= recording.lengthMs;
  return (
    <Card title="Replay" note={recording.isComplete ? undefined : 'Loading…'}>
      <ErrorMessage error={error} />
      <iframe
        ref={frame}
        class="replay-frame"
        title="Session replay"
        src="/rum/player"
        sandbox="allow-scripts allow-same-origin"
      />
      <input
        class="replay-position"
        type="range"
        aria-label="Position"
        aria-valuetext={formatMs(offsetMs)}
        min={0}
        max={recording.lengthMs}
        step={100}
        value={Math.min(offsetMs, recording.lengthMs)}
        disabled={!recording.isComplete}
        onInput={({ currentTarget }) =>
          send({ command: isPlaying ? 'play' : 'pause', offsetMs: Number(currentTarget.value) })
        }
      />
      <Gaps recording={recording} />
      <div class="replay-controls">
        <Button
          kind="primary"
          disabled={!recording.isComplete}
          onClick={() => send({ command: isPlaying ? 'pause' : 'play', offsetMs: isAtEnd ? 0 : offsetMs })}
        >
          {isPlaying ? 'Pause' : 'Play'}
        </Button>
        <span class="no-wrap">
          {formatMs(Math.min(offsetMs, recording.lengthMs))} of {formatMs(recording.lengthMs)}
        </span>
        <label>
          Speed{' '}
          <select
            value={settings.speed}
            onChange={({ currentTarget }) => setSettings({ ...settings, speed: Number(currentTarget.value) })}
          >
            {speeds.map((speed) => (
              <option key={speed} value={speed}>
                {speed}×
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={settings.skipsInactivity}
            onChange={({ currentTarget }) => setSettings({ ...settings, skipsInactivity: currentTarget.checked })}
          />{' '}
          Skip inactivity
        </label>
      </div>
    </Card>
  );
};
