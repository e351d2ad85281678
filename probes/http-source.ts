/** The platform through its API, with the token of a location. */
import { z } from 'zod';
import { Work } from '../schemas/synthetic-work.ts';
import type { WorkSource } from './probe.ts';

const ResultsResponse = z.object({ refused: z.array(z.object({ reason: z.string() })) });
const requestTimeoutMs = 30_000;

/** Rejects with the platform's message if it rejects a request. */
export const createHttpSource = ({
  url,
  token,
  probe,
  onRejected,
}: {
  readonly url: string;
  readonly token: string;
  /** Identifies this probe among those of its location */
  readonly probe: string;
  onRejected(reasons: readonly string[]): void;
}): WorkSource => {
  const post = async (path: string, body: object, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
    if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 500)}`);
    return response.json();
  };
  return {
    fetchWork: async (digest, signal, probeState) =>
      Work.parse(await post('/api/synthetics/probe/work', { probe, digest, ...probeState }, signal)),
    async sendAlarms(alarms, signal) {
      await post('/api/synthetics/probe/results', { results: [], alarms }, signal);
    },
    async sendScreenshot(picture, signal) {
      await post('/api/synthetics/probe/pictures', picture, signal);
    },
    async send(results, signal) {
      const { refused: rejected } = ResultsResponse.parse(
        await post('/api/synthetics/probe/results', { results }, signal),
      );
      if (rejected.length > 0) onRejected(rejected.map(({ reason }) => reason));
    },
  };
};
