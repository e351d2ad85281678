/** Screenshots of pages: for each check and location, those of the last passed and of the last failed run */
import { ConflictError, type TenantDocuments } from '../../schemas/ports/documents.ts';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { maxPictures, type SyntheticPicture, syntheticPictures } from '../../schemas/resources/synthetic-picture.ts';
import type { ProbePicture } from '../../schemas/synthetic-work.ts';
import { findRejection } from './accept.ts';
import { parseCheck } from './read-checks.ts';

const maxAttempts = 3;

/** Replaces the screenshot of an earlier run. */
const writeScreenshot = async (
  documents: TenantDocuments,
  id: string,
  screenshot: SyntheticPicture,
): Promise<string | undefined> => {
  const screenshots = documents.collection(syntheticPictures);
  const previousScreenshot = await screenshots.find(id);
  if (previousScreenshot !== undefined && previousScreenshot.dueMs >= screenshot.dueMs)
    return 'this or a later run already has a screenshot';
  if (previousScreenshot !== undefined) await screenshots.replace(id, screenshot, previousScreenshot.version);
  else if ((await screenshots.count()) >= maxPictures) return `the maximum of ${maxPictures} screenshots is reached`;
  else await screenshots.insert({ ...screenshot, id });
  return undefined;
};

/** Stores the screenshot of an assigned run; returns the reason if it is not stored. */
export const storeScreenshot = async (
  documents: TenantDocuments,
  { checkId, outcome, content, ...run }: ProbePicture,
  { location, nowMs }: { readonly location: string; readonly nowMs: number },
): Promise<string | undefined> => {
  const stored = await documents.collection(syntheticChecks).find(checkId);
  const check = stored && parseCheck(stored);
  const rejectionReason = findRejection(run, check, { location, nowMs });
  if (rejectionReason !== undefined) return rejectionReason;
  if (check?.type !== 'browser') return 'runs of this check have no screenshots';
  const kind = outcome === 'failed' ? 'failed' : 'good';
  for (let attemptsLeft = maxAttempts; attemptsLeft > 0; attemptsLeft--) {
    try {
      const screenshot = { checkId, location, kind, dueMs: run.dueMs, content } as const;
      return await writeScreenshot(documents, `${checkId}.${location}.${kind}`, screenshot);
    } catch (error) {
      // Another probe of the location stored it first.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return 'other screenshots are being stored at the same time';
};
