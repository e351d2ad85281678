/** What browsers may send of the people who use them. A project can allow more than the defaults. */
import { z } from 'zod';

const ReplayMasking = z.enum(['inputs', 'text', 'passwords']);
const maskingText = 'Texts that are masked in recordings: of inputs and editable elements, all, or of passwords only';
const canvasesText = 'Whether recordings have the drawings of canvases, whose texts are not masked';
const imagesText = 'Whether recordings have images that the recorder copies into them';

/** Recordings of one application, where they differ from those of its project. */
const ApplicationPrivacy = z.strictObject({
  replayMasking: ReplayMasking.optional().describe(maskingText),
  storesCanvases: z.boolean().optional().describe(canvasesText),
  storesImages: z.boolean().optional().describe(imagesText),
});

const maxApplications = 200;

/** Privacy of the browser telemetry of a project. */
export const BrowserPrivacy = z.strictObject({
  queryParameters: z
    .array(z.string().min(1).max(128))
    .max(200)
    .default([])
    .describe('Names of URL parameters whose values are stored; all others are removed from URLs'),
  replayMasking: ReplayMasking.default('inputs').describe(maskingText),
  storesCanvases: z.boolean().default(false).describe(canvasesText),
  storesImages: z.boolean().default(false).describe(imagesText),
  storesEmailAddresses: z.boolean().default(false).describe('Whether email addresses in texts are stored'),
  storesUserNames: z.boolean().default(false).describe('Whether names of users are stored; their ids always are'),
  applications: z
    .record(z.string().min(1).max(512), ApplicationPrivacy)
    .refine((applications) => Object.keys(applications).length <= maxApplications, {
      error: `must have at most ${maxApplications} applications`,
    })
    .default({})
    .describe('Recordings of applications, by `service.name`, where they differ'),
});
export type BrowserPrivacy = z.output<typeof BrowserPrivacy>;

export const defaultBrowserPrivacy: BrowserPrivacy = BrowserPrivacy.parse({});

/** Returns the privacy of an application. A project of an earlier version may lack fields. */
export const resolvePrivacy = (stored: Partial<BrowserPrivacy>, application: string): BrowserPrivacy => {
  const privacy = { ...defaultBrowserPrivacy, ...stored };
  const { applications } = privacy;
  const differing = Object.hasOwn(applications, application) ? applications[application] : undefined;
  return {
    ...privacy,
    replayMasking: differing?.replayMasking ?? privacy.replayMasking,
    storesCanvases: differing?.storesCanvases ?? privacy.storesCanvases,
    storesImages: differing?.storesImages ?? privacy.storesImages,
    applications: {},
  };
};
