"""Closures, ``nonlocal``, global variables, defaults, partials, decorators, callbacks and callable objects, mixed."""

from __future__ import annotations

import pytest
import thunkad as ad

from checking import Program
from fresh import check

PROGRAMS = {
    "caches_made_inside": "import functools\ndef f(x):\n @functools.lru_cache(maxsize=None)\n def chebyshev(k): return 1.0 if k==0 else x if k==1 else 2.0*x*chebyshev(k-1)-chebyshev(k-2)\n @functools.cache\n def fibonacci(k): return x**k if k<2 else 0.5*fibonacci(k-1)+x*fibonacci(k-2)\n return chebyshev(5)*fibonacci(20)",
    "decorator_that_counts": "from functools import partial\nA=1.0\ndef deco(k):\n calls=0\n def outer(g):\n  def w(*a,**kw):\n   nonlocal calls\n   calls+=1\n   return g(*a,**kw)*k+calls*0.1*a[0]\n  return w\n return outer\n@deco(2.0)\ndef h(y,p=3.0): return y**p*A\ndef f(x):\n global A\n A=x\n return h(x)+h(x,p=2.0)+partial(h,p=1.0)(x)",
    "callable_object": "class Acc:\n def __init__(self): self.t=0.0; self.n=0\n def __call__(self,v):\n  self.t=self.t+v; self.n+=1\n  return self.t/self.n\ndef f(x):\n a=Acc()\n r=[a(x**k) for k in range(4)]\n return sum(r)*a.t",
    "composed": "def compose(*fs):\n def g(x):\n  for q in fs: x=q(x)\n  return x\n return g\nB=2.0\ndef sq(y): return y*y*B\ndef f(x):\n global B\n B=x\n g=compose(sq,lambda y:y+B,np.sin)\n B=B*0.5\n return g(x)",
    "cached_recursion": "from functools import lru_cache\nW=1.0\n@lru_cache(maxsize=None)\ndef fib(n,x): return x if n<2 else fib(n-1,x)*0.5+fib(n-2,x)*x\ndef f(x):\n global W\n W=fib(5,x)\n return use()*x\ndef use(): return W*W",
    "functions_in_a_list": "def make(n):\n fs=[]\n for k in range(n):\n  def g(x,k=k):\n   return x**k*scale\n  fs.append(g)\n scale=1.0\n def set(v):\n  nonlocal scale\n  scale=v\n return fs,set\nfs,set_scale=make(3)\ndef f(x):\n set_scale(x*x)\n t=0.0\n for g in fs: t=t+g(x)\n return t",
    "callback_that_logs": "def f(x):\n log=[]\n def cb(k,v): log.append(v*k)\n def solve(y,callback):\n  for k in range(4):\n   y=y-0.1*(y*y-x)\n   callback(k,y)\n  return y\n y=solve(1.0,cb)\n return y+sum(log)",
    "smallest": "BEST=None\ndef track(v):\n global BEST\n if BEST is None or v<BEST: BEST=v\n return v\ndef f(x):\n global BEST\n BEST=None\n for k in range(4): track((x-k*0.5)**2+0.1*x)\n return BEST*x",
    "memo_of_the_object": "class Model:\n count=0\n def __init__(self,w): self.w=w; self.cache={}\n def layer(self,h,key):\n  if key not in self.cache: self.cache[key]=np.tanh(self.w*h)\n  return self.cache[key]\ndef f(x):\n m=Model(x)\n return m.layer(x,'a')*m.layer(x*2,'b')*m.layer(x,'a')",
    "mutable_default": "def f(x,*,opt=dict(a=2.0,b=[1.0,3.0])):\n s=opt['a']*x\n for v in opt['b']: s=s+v*x*x\n return s",
    "counting_log": "STACK=[]\ndef push(v): STACK.append(v)\ndef f(x):\n t=x\n for k in range(3):\n  t=t*x\n  push(float(k))\n return t*len(STACK)/len(STACK)",
    "closures_of_a_generator": "def gen(n):\n total=0.0\n def inner(v):\n  nonlocal total\n  total=total+v\n  return total\n for k in range(n):\n  yield inner\ndef f(x):\n r=1.0\n for g in gen(3): r=r*g(x)\n return r",
    "reduce": "from functools import reduce,partial\nC=1.0\ndef step(s,k,x): return s*x+k*C\ndef f(x):\n global C\n C=x*0.3\n return reduce(partial(step,x=x) if False else (lambda s,k: step(s,k,x)),range(4),1.0)",
    "memo_of_the_call": "def f(x):\n memo={}\n def p(n):\n  if n not in memo: memo[n]=x if n==0 else p(n-1)*x+n\n  return memo[n]\n return p(4)*p(2)",
    "manager_that_counts": "T=0.0\nclass Timer:\n def __enter__(self):\n  global T\n  T=T+1.0\n  return self\n def __exit__(self,*a):\n  global T\n  T=T*2\n  return False\ndef f(x):\n global T\n T=x\n with Timer(): y=x*T\n return y*T",
    "counters": "def counter():\n n=0\n def inc(by):\n  nonlocal n\n  n=n+by\n  return n\n def get(): return n\n return inc,get\ndef f(x):\n inc,get=counter()\n inc2,get2=counter()\n inc(x);inc2(x*x);inc(inc2(1.0))\n return get()*get2()",
    "registry": "H={}\ndef register(name):\n def d(g):\n  H[name]=g\n  return g\n return d\n@register('sq')\ndef sq(x): return x*x*M\n@register('cu')\ndef cu(x): return x**3*M\nM=1.0\ndef f(x):\n global M\n M=x\n return sum(H[k](x) for k in ('sq','cu'))",
    "operators": "import operator\nK=1.0\nclass V:\n def __init__(self,a,b): self.a,self.b=a,b\n def __add__(self,o): return V(self.a+o.a,self.b+o.b)\n def __rmul__(self,s): return V(s*self.a*K,s*self.b)\n def norm(self): return self.a*self.a+self.b*self.b\ndef f(x):\n global K\n K=x\n v=V(x,1.0)+2.0*V(1.0,x)\n return v.norm()",
    "decorator_with_finally": "from functools import wraps\nDEPTH=0.0\ndef traced(g):\n @wraps(g)\n def w(*a):\n  global DEPTH\n  DEPTH=DEPTH+a[0]*0.1\n  try: return g(*a)\n  finally: DEPTH=DEPTH-a[0]*0.1+0.01\n return w\n@traced\ndef fac(x,n): return x if n==0 else fac(x*0.9,n-1)*DEPTH\ndef f(x):\n global DEPTH\n DEPTH=1.0\n return fac(x,3)+DEPTH",
    "late_binding": "def f(x):\n fs={}\n for name,p in (('a',1),('b',2)):\n  fs[name]=lambda y,p=p: y**p+z\n z=x*x\n return fs['a'](x)*fs['b'](x)",
    "array_in_a_closure": "def f(x):\n acc=np.zeros(3)\n def add(k,v):\n  acc[k]+=v\n for k in range(3):\n  for g in (add,):\n   g(k,x**k)\n return np.sum(acc*acc)",
    "parameters": "PARAMS={'a':1.0}\ndef model(t): return PARAMS['a']*t+PARAMS.get('b',0.0)\ndef f(x):\n global PARAMS\n PARAMS={**PARAMS,'a':x,'b':x*x}\n return sum(model(t) for t in (0.5,1.0,2.0))",
    "newton": "EPS=1e-3\nX0=None\ndef newton(g,y):\n for _ in range(20):\n  d=(g(y+EPS)-g(y-EPS))/(2*EPS)\n  y=y-g(y)/d\n return y\ndef res(y): return y*y*y-X0\ndef f(x):\n global X0\n X0=x\n return newton(res,1.0)",
    "visitor": "class Node:\n def __init__(self,v,kids=()): self.v,self.kids=v,kids\nSUM=0.0\ndef visit(n):\n global SUM\n SUM=SUM+n.v*n.v\n for k in n.kids: visit(k)\ndef f(x):\n global SUM\n SUM=0.0\n visit(Node(x,(Node(x*x),Node(2.0,(Node(x**3),)))))\n return SUM",
    "nested_nonlocal": "def f(x):\n def outer(a):\n  b=a*x\n  def mid():\n   nonlocal b\n   def inn():\n    nonlocal b\n    b=b*a\n    return b\n   b=b+inn()\n   return inn\n  g=mid()\n  return g()+b\n return outer(x)",
    "singledispatch": "from functools import singledispatch\nS=1.0\n@singledispatch\ndef sc(v): return v*S\n@sc.register(list)\ndef _(v): return [sc(w) for w in v]\ndef f(x):\n global S\n S=x\n return sum(sc([x,[x*x][0]]))+sc(x)",
    "setting": "import contextlib\nG=1.0\n@contextlib.contextmanager\ndef setting(v):\n global G\n old=G\n G=v\n try: yield v\n finally: G=old\ndef use(y): return y*G\ndef f(x):\n global G\n G=2.0\n with setting(x*x): a=use(x)\n return a+use(x)",
    "state_in_a_dict": "def f(x):\n state={'n':0}\n def tick(v):\n  state['n']+=1\n  state['last']=v*state['n']\n  return state['last']\n a=tick(x)\n b=tick(a*x)\n return a+b*state['last']",
    "callables_in_a_list": "class Meta:\n registry=[]\n def __init__(self,p): self.p=p\n def __call__(self,x): return x**self.p\nfs=[Meta(1),Meta(2),Meta(3)]\nOFF=0.0\ndef apply(g,x): return g(x)+OFF\ndef f(x):\n global OFF\n OFF=x*0.1\n return sum(apply(g,x) for g in fs)",
    "moving_average": "LAST=0.0\ndef smooth(v,a=0.5):\n global LAST\n LAST=a*v+(1-a)*LAST\n return LAST\ndef f(x):\n global LAST\n LAST=x\n return sum([smooth(x*k) for k in range(4)])",
    "mutual_recursion": "def f(x):\n def g(n):\n  return h(n-1)*x if n else x\n def h(n):\n  return g(n-1)+x if n else k\n k=x*x\n r=g(3)\n k=k*2\n return r+g(3)",
    "two_by_keywords": "A=B=1.0\ndef setab(**kw):\n g=globals\n global A,B\n A=kw.get('a',A); B=kw.get('b',B)\ndef e(y): return A*y+B\ndef f(x):\n global A,B\n A=B=1.0\n setab(a=x)\n u=e(x)\n setab(b=u)\n return e(x)",
    "matrix": "M=np.eye(2)\ndef apply(v): return M@v\ndef f(x):\n global M\n M=np.eye(2)*x\n v=np.array([1.0,x])\n for k in range(2):\n  M=M+0.1*np.outer(v,v)\n  v=apply(v)\n return v@v",
    "loop_over_closures_that_rebind": "def comp(fs):\n def g(x):\n  for q in fs: x = q(x)\n  return x\n return g\ndef f(x):\n b = x\n def sq(y): return y * y * b\n b = b * x\n return comp([sq])(x)",
    "loop_over_closures_that_change": "def comp(fs):\n def g(x):\n  for q in fs: x = q(x)\n  return x\n return g\ndef f(x):\n a = [x]\n def st(y):\n  a[0] = a[0] * y\n  return a[0]\n def sq(y): return y * y * y\n return comp([st, sq])(x)",
    "two_functions_of_one_variable": "def mk():\n n=1.0\n def inc(b):\n  nonlocal n\n  n=n*b\n def get(): return n\n return inc,get\ndef f(x):\n i,g=mk()\n j,h=mk()\n i(x)\n i(x*x)\n j(x+1.0)\n return g()*h()*x",
    "array_and_list_of_a_factory": "def mk():\n b,seen=np.zeros(3),[]\n def put(y):\n  b[0]=y*y\n  seen.append(b[0]*y)\n  return sum(seen)\n return put\ndef f(x):\n g=mk()\n g(x)\n return g(2.0)*g(x)",
    "dict_of_a_factory_of_a_factory": "def mk():\n d={}\n def outer(y):\n  def inner(z): d.setdefault('v',[]).append(z*z)\n  inner(y)\n  return d['v'][-1]*y\n return {'o':outer}\ndef f(x): return mk()['o'](x)*x",
    "chosen_in_a_factory": "def mk(flag):\n s=0.0\n def put(y):\n  nonlocal s\n  s=s+y*y\n  return s\n def other(y): return y\n return put if flag else other\ndef f(x):\n g=mk(x>0)\n g(x)\n return g(x)*mk(x<0)(x)",
    "counter": "def counter():\n n = 0\n def inc(by):\n  nonlocal n\n  n = n + by\n  return n\n return inc\ndef f(x):\n inc = counter()\n inc(x)\n return inc(x) * x",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_programs_with_state(name: str) -> None:
    check(lambda: Program(PROGRAMS[name], ()).build())


@pytest.mark.parametrize("name", ["composed", "newton", "setting", "visitor"])
def test_gradient_of_the_gradient_of_what_sets_the_variables_that_it_reads(name: str) -> None:
    fresh = [Program(PROGRAMS[name], ()).build() for _ in range(3)]
    slope = (ad.grad(fresh[0])(1.3 + 1e-5) - ad.grad(fresh[1])(1.3 - 1e-5)) / 2e-5
    assert ad.grad(ad.grad(fresh[2]))(1.3) == pytest.approx(slope, rel=1e-5)
