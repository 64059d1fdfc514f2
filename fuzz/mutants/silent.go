package mutants

import (
	"go/ast"
	"go/token"
)

// What is left alone: nothing of the protocol is decided there.

// onlyBroken are functions that only rules which are broken on purpose come to, or that say nothing of the protocol.
var onlyBroken = map[string]string{
	"letIn":     "answers a parked JoinGroup, which no rule allows",
	"favourite": "chooses a protocol without a vote",
	"String":    "puts into words",
	"Error":     "puts into words",
}

// silent says whether nothing below the node is a decision: what is told to observers and in errors, what says what a rule is called, and types.
func (f *finder) silent(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ExprStmt:
		return f.tells(n.X)
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 {
			if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "reason" {
				return true
			}
		}
		return len(n.Rhs) == 1 && f.tells(n.Rhs[0])
	case *ast.CallExpr:
		return f.tells(n)
	case *ast.UnaryExpr:
		return n.Op == token.NOT && f.tells(n.X)
	case *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.FuncType, *ast.DeclStmt:
		_, decl := n.(*ast.DeclStmt)
		return !decl || n.(*ast.DeclStmt).Decl.(*ast.GenDecl).Tok != token.VAR
	}
	return false
}

// tells are calls that decide nothing: of observers, of what reports an inconsistency, and of Break, which has a count of its own.
func (f *finder) tells(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := ""
	switch fun := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	case *ast.Ident:
		name = fun.Name
	}
	switch name {
	case "panic", "Sprintf", "Errorf":
		return true
	case "observe", "inconsistent", "Report":
		return f.s.part == Core
	case "holds", "cite":
		return f.s.part == Model
	}
	return false
}

// broken says whether the block is come by only where a rule is broken on purpose.
func (f *finder) broken(n ast.Node) bool {
	if f.s.part != Model || len(f.stack) == 0 {
		return false
	}
	switch p := f.parent().(type) {
	case *ast.IfStmt:
		return (n == p.Body || n == p.Cond) && f.asksBroken(p.Cond, true) || n == p.Else && f.asksBroken(p.Cond, false)
	case *ast.CaseClause:
		if len(p.List) != 1 || n == p.List[0] {
			return false
		}
		return f.asksBroken(p.List[0], true)
	}
	return false
}

// asksBroken says whether the condition is true, or false, only where a rule is broken.
func (f *finder) asksBroken(e ast.Expr, is bool) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.asksBroken(e.X, is)
	case *ast.UnaryExpr:
		return e.Op == token.NOT && f.asksBroken(e.X, !is)
	case *ast.BinaryExpr:
		if e.Op == token.LAND && is || e.Op == token.LOR && !is {
			return f.asksBroken(e.X, is) || f.asksBroken(e.Y, is)
		}
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "holds" && !is
	case *ast.IndexExpr:
		sel, ok := e.X.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "broken" && is
	}
	return false
}

// allSilent says whether statements decide nothing.
func (f *finder) allSilent(list []ast.Stmt) bool {
	for _, s := range list {
		if !f.silent(s) {
			return false
		}
	}
	return len(list) > 0
}

// tellsOnly says whether nothing depends on a switch but what is told.
func (f *finder) tellsOnly(sw *ast.SwitchStmt) bool {
	for _, c := range sw.Body.List {
		if !f.allSilent(c.(*ast.CaseClause).Body) {
			return false
		}
	}
	return true
}

func hasDefault(sw *ast.SwitchStmt) bool {
	for _, c := range sw.Body.List {
		if c.(*ast.CaseClause).List == nil {
			return true
		}
	}
	return false
}
