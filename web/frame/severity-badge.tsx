/** Severity of an alert, incident, event or finding as a label; empty without one */
import { Badge } from '../components/badge.tsx';
import { toSeverityTone } from './severity.ts';

export const SeverityBadge = ({ severity }: { readonly severity: string | null | undefined }) =>
  severity ? <Badge tone={toSeverityTone(severity)}>{severity}</Badge> : null;
