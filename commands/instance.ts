import { existsSync } from 'node:fs';
import { DirectoryLockedError } from '../schemas/errors.ts';
import { isEmbedded, parseSettings } from '../schemas/settings.ts';
import { sendControlRequest } from './control.ts';
import { type ControlRequest, runControlRequest } from './control-request.ts';
import { formatInstallationName } from './installation.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

/**
 * Sends a request to a running instance through its control socket, or runs it directly on the stores if no instance
 * runs.
 */
export const runOnInstance = async (
  { environment, open }: Pick<CommandContext, 'environment' | 'open'>,
  request: ControlRequest,
): Promise<void> => {
  const settings = parseSettings(environment);
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  // Not on standard output, which a program may parse.
  process.stderr.write(`installation: ${formatInstallationName(settings)}\n`);
  const embedded = isEmbedded(settings);
  if (embedded && (await sendControlRequest(settings.DATA_DIR, request, print))) return;
  // Opening the stores would create the directory.
  if (embedded && !existsSync(settings.DATA_DIR))
    throw new UsageError(`there is no installation in ${settings.DATA_DIR}: set OIQ_DATA_DIR`);
  try {
    const platform = await open(settings);
    try {
      await runControlRequest(platform, request, print);
    } finally {
      await platform.close();
    }
  } catch (error) {
    if (!(error instanceof DirectoryLockedError)) throw error;
    throw new Error(
      'another instance uses the data directory but does not answer on its control socket: is it starting or stopping?',
      { cause: error },
    );
  }
};
