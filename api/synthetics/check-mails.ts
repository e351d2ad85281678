/** Mail to the receivers that projects name: that a synthetic check fails, and that it recovered. */
import { documentsIn } from '../../runtime/documents-in.ts';
import { defineJob } from '../../runtime/jobs.ts';
import { type SyntheticCheckTold, syntheticChecksTold } from '../../schemas/resources/synthetic-told.ts';
import { downtimeAt, readWindows } from '../../subjects/synthetics/downtimes.ts';
import { type KnownCheck, readChecks } from '../../subjects/synthetics/known.ts';
import { readSaid, type Said } from '../../subjects/synthetics/said.ts';
import { type Letter, plainName } from '../mail/letter.ts';
import { linkTo } from '../mail/links.ts';
import { eachWanting, type KnownProject, type MailJobPorts, receiversOf } from '../mail/receivers.ts';

type Told = SyntheticCheckTold['what'];

const events = { failing: 'check-failing', recovered: 'check-recovered' } as const;

/** What is to be told of a check; undefined where that is told already, nothing is known, or it is in a planned downtime. */
export const toTell = (
  { state, isMaintenance }: Pick<Said, 'state' | 'isMaintenance'>,
  known: Told | undefined,
): Told | undefined => {
  if (isMaintenance || state === 'unknown') return undefined;
  if (state === 'down') return known === 'failing' ? undefined : 'failing';
  return known === 'failing' ? 'recovered' : undefined;
};

const letterOf = (
  to: string,
  check: KnownCheck,
  { what, says }: { readonly what: Told; readonly says: string },
  settings: MailJobPorts['settings'],
): Letter => ({
  to,
  subject: `Check ${what}: ${plainName(check.name)}`,
  paragraphs: [
    `The synthetic check “${plainName(check.name)}” ${what === 'failing' ? 'fails' : 'recovered'}: ${plainName(says.toWellFormed())}.`,
    ...(check.description === '' ? [] : [plainName(check.description.slice(0, 2000).toWellFormed())]),
  ],
  link: { text: 'Show the check', url: linkTo(settings, `checks?open=${encodeURIComponent(check.id)}`) },
});

/** The mails that tell of a check now. */
const lettersOf = async (
  check: KnownCheck,
  told: { readonly what: Told; readonly says: string },
  {
    tenantId,
    own,
    counters,
    settings,
  }: Pick<MailJobPorts, 'counters' | 'settings'> & {
    readonly tenantId: string;
    readonly own: readonly KnownProject[];
  },
): Promise<Letter[]> => {
  // A check without a project is of all.
  const concerned = own.filter(({ id }) => check.projectId === null || check.projectId === id);
  const happened = { event: events[told.what], severity: check.alerting.severity, about: 'check' } as const;
  const receivers = await receiversOf(counters, tenantId, concerned, happened);
  return [...receivers].map((to) => letterOf(to, check, told, settings));
};

const tellOf = async (ports: MailJobPorts, tenantId: string, own: readonly KnownProject[]): Promise<void> => {
  const { documents, columns, clock, mail } = ports;
  const nowMs = clock.now();
  const tenant = documents.of(tenantId);
  const [checks, windows] = await Promise.all([readChecks(tenant, { enabled: true }), readWindows(tenant)]);
  if (checks.length === 0) return;
  const said = await readSaid(
    { columns: columns.of(tenantId) },
    checks.map(({ id }) => id),
    nowMs,
  );
  const downtimeOf = downtimeAt(windows, nowMs);
  const known = new Map<string, Told>();
  for await (const { id, what } of documentsIn(tenant.collection(syntheticChecksTold))) known.set(id, what);
  for (const check of checks) {
    const now = said.get(check.id);
    if (now === undefined) continue;
    const isMaintenance = now.isMaintenance || downtimeOf(check) !== undefined;
    const what = toTell({ ...now, isMaintenance }, known.get(check.id));
    if (what === undefined) continue;
    const letters = await lettersOf(check, { what, says: now.says }, { ...ports, tenantId, own });
    await documents.transaction(async (scope) => {
      const stored = scope.of(tenantId).collection(syntheticChecksTold);
      const before = await stored.find(check.id);
      // Another instance may have told it meanwhile.
      if (before?.what === what) return;
      for (const letter of letters) await mail.put(scope, letter);
      const after = { what, at: new Date(nowMs).toISOString() };
      if (before === undefined) await stored.insert({ id: check.id, ...after });
      else await stored.replace(check.id, after, before.version);
    });
  }
};

/** Looks at the checks of organizations whose projects want to be told. One that cannot be looked at keeps no other from it. */
export const tellOfChecks = async (ports: MailJobPorts, signal: AbortSignal): Promise<void> => {
  await eachWanting(
    ports,
    { events: Object.values(events), what: 'checks' },
    (tenantId, own) => tellOf(ports, tenantId, own),
    signal,
  );
};

export const checkMailsJob = defineJob<MailJobPorts>({
  name: 'synthetic-check-mails',
  summary: 'Mails to receivers of projects that synthetic checks fail, and that they recovered.',
  everyMs: 10_000,
  scope: 'installation',
  run: tellOfChecks,
});
