/** Digital experience: applications in browsers, their sessions, web vitals, pages, resources and errors */
import { createTabbedView } from '../../frame/parts.tsx';
import { Applications } from './applications.tsx';
import { BrowserKeys } from './keys.tsx';
import { BrowserErrors, Pages, Resources } from './lists.tsx';
import { Sessions } from './sessions.tsx';
import { WebVitals } from './vitals.tsx';

export const DigitalExperience = createTabbedView('Digital experience', [
  { name: '', title: 'Applications', View: Applications },
  { name: 'sessions', title: 'Sessions', View: Sessions },
  { name: 'web-vitals', title: 'Web vitals', View: WebVitals },
  { name: 'pages', title: 'Pages', View: Pages },
  { name: 'resources', title: 'Resources', View: Resources },
  { name: 'errors', title: 'Errors', View: BrowserErrors },
  { name: 'keys', title: 'Browser keys', View: BrowserKeys },
]);
