/** The command line: `oiq COMMAND`. Prints readable text on standard output, structured logs on standard error. */

import type { FirstStartSecrets } from '../api/index.ts';
import { parseSettings, rejectLocalStores, type Settings, SettingsError } from '../schemas/settings.ts';
import { parseOptions } from './command-arguments.ts';
import { formatInstallationName } from './installation.ts';
import { readPlans } from './plans.ts';
import type { CommandContext } from './platform.ts';
import { type RoleName, type RunningInstance, roleNames, start } from './start.ts';
import { UsageError } from './usage-error.ts';

const usage = `oiq, an open observability platform

  oiq start                     everything in one process
  oiq receivers | api           one role, for a cluster
  oiq processors [NAME …]       one role, or only its named components
  oiq sinks [NAME …]
  oiq probe                     run the synthetic checks of a location, without any store   (oiq probe --help)
  oiq migrate [--wait SECONDS]  create or upgrade topics, tables and indexes; --wait retries until the stores respond
  oiq clickhouse shards | empty SHARD   rows and health of each ClickHouse server   (oiq clickhouse --help)
  oiq check                     send a log record and read it back   (oiq check --help)
  oiq wait-for-version URL …    wait until other processes run this version   (oiq wait-for-version --help)
  oiq dead-letter list | show ID | replay | discard | replays   (oiq dead-letter --help)
  oiq organization list | reopen ID | shards ID N   (oiq organization --help)
  oiq evidence verify FILE | key | sign ORGANIZATION  check an exported audit chain, without any store   (oiq evidence --help)
  oiq rules plan DIR | apply DIR   deploy a folder of detection rules   (oiq rules --help)
  oiq slo gate ID …             whether error-budget policies let a pipeline deploy   (oiq slo --help)
  oiq checks plan DIR | apply DIR   manage synthetic checks as files   (oiq checks --help)
  oiq dashboards plan DIR | apply DIR | export DIR   manage dashboards as files   (oiq dashboards --help)
  oiq source-maps upload DIR    upload the source maps of a build   (oiq source-maps --help)
  oiq mcp                       tools for coding agents, on standard input and output   (oiq mcp --help)
  oiq forget-group NAME         delete a consumer group that no longer runs
  oiq processor-state list | remove KEY   saved states of processors (oiq processor-state --help)
  oiq operations [--missing]    operations of the management API
  oiq settings                  settings with their defaults
  oiq demo                      send telemetry of a small shop for a few minutes (oiq demo --help)
`;

const print = (text: string): void => {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
};

/** Runs one command and sets the exit status: 0 success, 1 failure, 2 usage error. */
export const runCommand = async (context: CommandContext): Promise<void> => {
  const [name = 'help', ...rest] = context.args;
  // The reader of a pipe may close it early, like `head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    await dispatch(name, { ...context, args: rest });
  } catch (error) {
    const isUsageError = error instanceof UsageError || error instanceof SettingsError;
    process.stderr.write(`oiq ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = isUsageError ? 2 : 1;
    // Open handles of a failed start must not keep the process running.
    setTimeout(() => process.exit(), 2_000).unref();
  }
};

/** Commands without their own help */
const plainCommands: readonly string[] = ['start', ...roleNames, 'migrate', 'operations', 'settings'];

const isHelpRequested = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h');

/** The code of each command is loaded on demand: loading is most of the start time of a long-running process. */
const dispatch = async (name: string, context: CommandContext): Promise<void> => {
  if (plainCommands.includes(name) && isHelpRequested(context.args)) return print(usage);
  if (name === 'start') {
    parseOptions(context.args, {}, usage);
    return serve(context, [], []);
  }
  if (isRole(name)) {
    if (name === 'receivers' || name === 'api') parseOptions(context.args, {}, usage);
    return serve(context, [name], context.args);
  }
  switch (name) {
    case 'migrate':
      return (await import('./migrate.ts')).migrateCommand(context, usage);
    case 'probe':
      return (await import('./probe.ts')).probeCommand(context);
    case 'check':
      return (await import('./check.ts')).checkCommand(context);
    case 'wait-for-version':
      return (await import('./wait-for-version.ts')).waitForVersionCommand(context);
    case 'dead-letter':
      return (await import('./dead-letter.ts')).deadLetterCommand(context);
    case 'rules':
      return (await import('./rules.ts')).rulesCommand(context);
    case 'slo':
      return (await import('./slo.ts')).sloCommand(context);
    case 'checks':
      return (await import('./checks.ts')).checksCommand(context);
    case 'dashboards':
      return (await import('./dashboards.ts')).dashboardsCommand(context);
    case 'source-maps':
      return (await import('./source-maps.ts')).sourceMapsCommand(context);
    case 'organization':
      return (await import('./organization.ts')).organizationCommand(context);
    case 'forget-group':
      return (await import('./forget-group.ts')).forgetGroupCommand(context);
    case 'processor-state':
      return (await import('./processor-state.ts')).processorStateCommand(context);
    case 'clickhouse':
      return (await import('./clickhouse.ts')).clickhouseCommand(context);
    case 'evidence':
      return (await import('./evidence.ts')).evidenceCommand(context);
    case 'operations': {
      const { missing } = parseOptions(context.args, { missing: { type: 'boolean' } }, usage);
      const { formatOperationsReport } = await import('../api/index.ts');
      return print(await formatOperationsReport(missing === true));
    }
    case 'settings': {
      parseOptions(context.args, {}, usage);
      const { formatSettings } = await import('./settings.ts');
      return print(formatSettings());
    }
    case 'mcp':
      return (await import('./mcp.ts')).mcpCommand(context);
    case 'demo':
      return (await import('./demo.ts')).demoCommand(context);
    case 'help':
    case '--help':
    case '-h':
      return print(usage);
    default:
      throw new UsageError(`no such command\n\n${usage}`);
  }
};

const isRole = (name: string): name is RoleName => (roleNames as readonly string[]).includes(name);

const serve = async (
  { environment, open }: CommandContext,
  names: readonly RoleName[],
  components: readonly string[],
): Promise<void> => {
  const settings = parseSettings(environment);
  rejectLocalStores(settings, { isPart: names.length > 0 });
  const stopRequest = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopRequest.resolve(signal));
  // The parent process exited: stop as after a signal.
  process.on('disconnect', () => stopRequest.resolve('disconnect'));
  const plans = await readPlans(settings);
  const platform = await open(settings);
  let licenseKey: string | undefined;
  const onFirstStart = (firstStart: FirstStartSecrets): void => {
    printFirstStart(firstStart);
    licenseKey = firstStart.licenseKey ?? 'KEY';
  };
  const stopController = new AbortController();
  void stopRequest.promise.then(() => stopController.abort());
  const options = { names, components, plans, onFirstStart, stopSignal: stopController.signal };
  const runningInstance = await start(platform, options).catch((error: Error) => {
    if (stopController.signal.aborted && error.name === 'AbortError') process.exit();
    throw error;
  });
  printAddresses(settings, runningInstance, licenseKey);
  const reason = await Promise.race([stopRequest.promise, runningInstance.failure.then(() => 'stopped')]).catch(
    (error: unknown) => {
      platform.log.error({ error }, 'a role failed');
      process.exitCode = 1;
      return 'failure';
    },
  );
  platform.log.info({ reason }, 'stopping');
  const deadline = setTimeout(() => {
    platform.log.error({ seconds: settings.SHUTDOWN_SECONDS }, 'shutdown did not finish in time');
    process.exit(1);
  }, settings.SHUTDOWN_SECONDS * 1_000);
  deadline.unref();
  await runningInstance.stop();
  process.exit();
};

/**
 * Prints the addresses. With the license key of a first start, also prints how to send telemetry to this process if it
 * accepts any.
 */
const printAddresses = (settings: Settings, { addresses }: RunningInstance, licenseKey: string | undefined): void => {
  const lines = addresses.map(([protocol, address]) => `  ${protocol.padEnd(10)} ${address}`);
  print(`OIQ is running (${formatInstallationName(settings)}):\n${lines.join('\n')}`);
  const [, otlp] = addresses.find(([what]) => what === 'OTLP/HTTP') ?? [];
  if (licenseKey !== undefined && otlp !== undefined)
    print(
      `\nSend telemetry from any OpenTelemetry SDK:\n  OTEL_EXPORTER_OTLP_ENDPOINT=http://${otlp} OTEL_EXPORTER_OTLP_HEADERS=x-license-key=${licenseKey}\n`,
    );
};

const printFirstStart = ({ email, password, licenseKey }: FirstStartSecrets): void => {
  const formatSecret = (value: string | undefined): string => value ?? '(set in the environment)';
  print(
    `\nThis is the first start. These credentials are shown only once:\n  owner        ${email}\n  password     ${formatSecret(password)}\n  license key  ${formatSecret(licenseKey)}\n`,
  );
};
