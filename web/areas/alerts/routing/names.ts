/** Names of routes for people */
import { formatMatchers } from '../alert-format.ts';
import type { Route } from './changes.ts';

export const formatRoute = ({ matchers }: Pick<Route, 'matchers'>): string =>
  matchers.length === 0 ? 'all alerts' : formatMatchers({ matchers: [...matchers] });
