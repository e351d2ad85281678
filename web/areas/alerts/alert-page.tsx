/** Page of one alert, with an address of its own */
import { Card } from '../../components/card.tsx';
import { readParam } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { AlertStatus, LoadedAlert } from './alert-panel.tsx';

export const AlertPage = () => (
  <LoadedAlert id={readParam('alert')}>
    {(alert) =>
      alert === undefined ? (
        <p class="said">This alert does not exist anymore.</p>
      ) : (
        <Card title={renderText(alert.ruleName)}>
          <AlertStatus alert={alert} />
        </Card>
      )
    }
  </LoadedAlert>
);
