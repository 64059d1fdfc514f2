package mutants

import (
	"go/ast"
	"go/types"
	"strings"
)

// Mutants of values: constants, error codes, true and false, the greater of two.

// call swaps the greater for the smaller.
func (f *finder) call(n *ast.CallExpr) {
	id, ok := n.Fun.(*ast.Ident)
	if !ok || id.Name != "max" && id.Name != "min" || f.isConst(n) {
		return
	}
	if _, builtin := f.s.info.Uses[id].(*types.Builtin); builtin {
		other := map[string]string{"max": "min", "min": "max"}[id.Name]
		rest := strings.TrimPrefix(f.raw(n), id.Name)
		f.pickRaw(Arithmetic, n, other+oneLine(rest), other+rest)
	}
}

func (f *finder) ident(id *ast.Ident) {
	if f.isName(id) {
		return
	}
	switch obj := f.s.info.Uses[id].(type) {
	case *types.Const:
		if obj.Parent() == types.Universe && (id.Name == "true" || id.Name == "false") {
			f.pick(Boolean, id, "!"+id.Name)
			return
		}
		if obj.Pkg() == f.s.pkg {
			f.constant(id, obj)
		}
	}
}

// isName says whether the identifier only names something: a field, a key, a case (which is dropped as a whole).
func (f *finder) isName(id *ast.Ident) bool {
	switch p := f.parent().(type) {
	case *ast.SelectorExpr:
		return p.Sel == id
	case *ast.KeyValueExpr:
		return p.Key == id
	case *ast.CaseClause:
		return true
	}
	return false
}

// constant swaps a constant for the next one of its type, error codes among them.
func (f *finder) constant(id *ast.Ident, c *types.Const) {
	named, isNamed := c.Type().(*types.Named)
	if isNamed && (named.Obj().Name() == "RuleID" || named.Obj().Name() == "Reason" || named.Obj().Name() == "DefectID") {
		return // names of what is decided
	}
	if basic, ok := c.Type().(*types.Basic); ok && basic.Kind() == types.Int16 {
		f.swap(Code, id, c)
		return
	}
	if isNamed && named.Obj().Pkg() == f.s.pkg {
		f.swap(Constant, id, c)
		return
	}
}

func (f *finder) swap(k Kind, id *ast.Ident, c *types.Const) {
	names := f.s.constants(c.Type())
	for i, name := range names {
		if name != c.Name() {
			continue
		}
		for j := range names {
			other := names[(i+1+j)%len(names)]
			if other != name && !strings.HasSuffix(strings.ToLower(other), "count") {
				f.pick(k, id, other)
				return
			}
		}
	}
}

// pick has another value take the place of an expression.
func (f *finder) pick(k Kind, e ast.Expr, is string) { f.pickRaw(k, e, is, is) }

func (f *finder) pickRaw(k Kind, e ast.Expr, is, raw string) {
	t := f.s.info.TypeOf(e)
	if t == nil {
		return
	}
	f.around(k, e, is, "musterPick["+types.TypeString(types.Default(t), types.RelativeTo(f.s.pkg))+"](#, "+raw+", ", ")")
}
