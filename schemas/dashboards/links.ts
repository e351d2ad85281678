/** Links of dashboards, panels and fields. Nothing that a browser would run can be one, whatever variables stand for. */
import { z } from 'zod';

/**
 * `http:`, `https:`, or a path of this installation: a slash that no second one follows. A variable may stand behind that,
 * so that no value of it makes another scheme or host of a path.
 */
const LinkTarget = z
  .string()
  .max(4096)
  .regex(/^(?:https?:\/\/[^\s\\/]|\/(?![/\\]))/i, 'must begin with http://, https:// or a single / (a path)')
  .regex(/^\P{Cc}*$/u, 'must hold no control character');

export const Link = z.strictObject({
  title: z.string().max(512).default(''),
  url: LinkTarget,
  newTab: z.boolean().default(false),
});

const shared = {
  keepTime: z.boolean().default(false).describe('The range goes along'),
  keepVariables: z.boolean().default(false),
  newTab: z.boolean().default(false),
};

/** A link above the panels: to an address, or to all dashboards that have these tags. */
export const DashboardLink = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('address'),
    title: z.string().max(512).default(''),
    url: LinkTarget,
    tooltip: z.string().max(512).default(''),
    icon: z.string().max(64).default(''),
    ...shared,
  }),
  z.strictObject({
    kind: z.literal('dashboards'),
    title: z.string().max(512).default(''),
    tags: z.array(z.string().min(1).max(64)).max(32).default([]),
    asMenu: z.boolean().default(false),
    ...shared,
  }),
]);
