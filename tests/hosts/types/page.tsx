import {useRef} from 'react';
import type {AttentionPlayground as Element, PlaygroundCheck} from 'attention-playground';
import type {} from 'attention-playground/jsx';
import {AttentionPlayground} from 'attention-playground/react';

export function Page() {
  const ref = useRef<Element>(null);
  const check: PlaygroundCheck = {tensor: 'weights', at: [0, 'saw', null], min: 0.1};
  return <div>
    <attention-playground preset="uniform" show={['q', 'k']} fit loading="eager" style={{height: 300}}/>
    <AttentionPlayground ref={ref} preset="uniform" lock="heads" onReady={() => ref.current?.on(check, () => {})} onFit={({detail}) => detail.height.toFixed()} onChange={({detail}) => detail.source}/>
  </div>;
}

// @ts-expect-error: there is no such theme
export const wrong = <attention-playground theme="pink"/>;
// @ts-expect-error: nor such an event
export const wrongToo = <AttentionPlayground onNothing={() => {}}/>;
