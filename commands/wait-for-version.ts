/** `oiq wait-for-version`: starts the roles of a new version one after the other. */
import { lookup } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../runtime/version.ts';
import { parseOptionsAndUrls } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq wait-for-version URL … [--seconds 300]

Waits until every process at the URLs runs the version of this command (${version}), for ordered rollouts. A name with
several addresses means one process at each; a URL that does not respond is ignored. After --seconds the command ends
anyway, because processes may be replaced in any order.
`;

const options = {
  seconds: { type: 'string', default: '300' },
  help: { type: 'boolean', short: 'h' },
} as const;

const pauseMs = 1_000;
/** A hanging process is ignored; a process on a busy machine may take seconds to respond. */
const responseTimeoutMs = 10_000;

/** Returns one URL for each address of a URL's host, none if it has no address. */
const resolveAddresses = async (url: URL): Promise<readonly URL[]> => {
  const records = await lookup(url.hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => []);
  return records.map(({ address, family }) => {
    const addressUrl = new URL(url);
    addressUrl.hostname = family === 6 ? `[${address}]` : address;
    return addressUrl;
  });
};

/** The version that a process reports, `older` if it reports none, `undefined` if there is no response. */
const fetchVersion = async (url: URL): Promise<string | undefined> => {
  try {
    const response = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(responseTimeoutMs) });
    const body = (await response.json()) as { version?: string };
    return body.version ?? 'older';
  } catch {
    return undefined;
  }
};

/** Returns the other versions that respond at the URLs. */
const findOtherVersions = async (urls: readonly URL[]): Promise<readonly string[]> => {
  const addresses = (await Promise.all(urls.map(resolveAddresses))).flat();
  const versions = await Promise.all(addresses.map(fetchVersion));
  return [
    ...new Set(versions.filter((reportedVersion) => reportedVersion !== undefined && reportedVersion !== version)),
  ] as string[];
};

export const waitForVersionCommand = async ({ args }: CommandContext): Promise<void> => {
  const { values, urls } = parseOptionsAndUrls(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const seconds = Number(values.seconds);
  if (urls.length === 0 || !(seconds >= 0))
    throw new UsageError(`pass at least one URL, and --seconds of at least 0\n\n${help}`);
  const deadline = Date.now() + seconds * 1_000;
  let lastMessage = '';
  for (;;) {
    const otherVersions = (await findOtherVersions(urls)).join(', ');
    if (otherVersions === '') return void process.stdout.write(`only version ${version} runs\n`);
    if (Date.now() >= deadline)
      return void process.stdout.write(`version ${otherVersions} still runs after ${seconds} s: continuing anyway\n`);
    if (otherVersions !== lastMessage)
      process.stdout.write(`waiting for version ${version}: ${otherVersions} still runs\n`);
    lastMessage = otherVersions;
    await delay(pauseMs);
  }
};
