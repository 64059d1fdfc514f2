package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// finder walks one file.
type finder struct {
	s     *source
	file  sourceFile
	next  *int // the number of the last mutant
	found []Mutant
	stack []ast.Node // the ancestors of the node that is visited
	fn    string
	lits  int // function literals around the node

	value bool // in the value of a variable of the package
}

// find lists the mutants of a file, of whatever compiles or does not.
func (s *source) find(file sourceFile, next *int) []Mutant {
	f := &finder{s: s, file: file, next: next}
	for _, d := range file.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil && onlyBroken[d.Name.Name] == "" {
				f.fn, f.value = funcName(d), false
				f.walk(d.Body)
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				v := spec.(*ast.ValueSpec)
				f.fn, f.value = v.Names[0].Name, true
				for _, value := range v.Values {
					f.walk(value)
				}
			}
		}
	}
	seen := map[string]int{}
	for i := range f.found {
		m := &f.found[i]
		seen[m.Key()]++
		m.Nth = seen[m.Key()]
	}
	return f.found
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

func (f *finder) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			if _, lit := f.stack[len(f.stack)-1].(*ast.FuncLit); lit {
				f.lits--
			}
			f.stack = f.stack[:len(f.stack)-1]
			return false
		}
		if f.silent(n) || f.broken(n) {
			return false
		}
		f.visit(n)
		f.stack = append(f.stack, n)
		if _, lit := n.(*ast.FuncLit); lit {
			f.lits++
		}
		return true
	})
}

func (f *finder) parent() ast.Node {
	if len(f.stack) == 0 {
		return nil
	}
	return f.stack[len(f.stack)-1]
}

func (f *finder) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		if (n.Else != nil || !f.allSilent(n.Body.List)) && !(f.s.part == Model && f.asksBroken(n.Cond, true)) {
			f.condition(n.Cond, true)
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			f.condition(n.Cond, false)
		}
	case *ast.RangeStmt:
		f.add(Loop, "range "+f.text(n.X), "no round of it", n.Body.Lbrace+1, n.Body.Lbrace+1, "if musterAwake(#) { break }; ", "")
	case *ast.CaseClause:
		f.clause(n)
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			if f.isBool(r) && !f.isConst(r) {
				f.condition(r, true)
			}
		}
		if len(n.Results) == 0 {
			f.statement(n)
		}
	case *ast.ExprStmt:
		f.statement(n)
	case *ast.BranchStmt:
		f.statement(n)
	case *ast.IncDecStmt:
		f.statement(n)
		is := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
		f.replace(Arithmetic, n, f.text(n.X)+is)
	case *ast.AssignStmt:
		f.assignment(n)
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.CallExpr:
		f.call(n)
	case *ast.Ident:
		f.ident(n)
	}
}

// condition makes a condition true, or false, whatever it asks.
func (f *finder) condition(e ast.Expr, always bool) {
	if f.isConst(e) || f.silent(e) {
		return
	}
	if always {
		f.around(Always, e, "true", "musterOr(#, ", ")")
	}
	f.around(Never, e, "false", "musterAnd(#, ", ")")
}

// clause drops a case: of a switch without a tag its condition is one like others, of one with a tag the value becomes one that never comes.
func (f *finder) clause(c *ast.CaseClause) {
	body := f.stack[len(f.stack)-1]
	var of ast.Node
	if _, ok := body.(*ast.BlockStmt); ok && len(f.stack) > 1 {
		of = f.stack[len(f.stack)-2]
	}
	switch sw := of.(type) {
	case *ast.SwitchStmt:
		if sw.Tag != nil && len(c.Body) == 0 && !hasDefault(sw) || f.tellsOnly(sw) {
			return
		}
		for _, e := range c.List {
			if sw.Tag == nil {
				f.condition(e, true)
				continue
			}
			if !f.silent(e) {
				f.add(Case, "case "+f.text(e), "never", e.Pos(), e.End(), "musterNever("+"#, ", ")")
			}
		}
	case *ast.TypeSwitchStmt:
		if len(c.Body) > 0 && len(c.List) > 0 {
			first, last := c.Body[0].Pos(), c.Body[len(c.Body)-1].End()
			f.add(Case, "case "+f.text(c.List[0]), "never", first, last, "if !musterAwake(#) { ", " }")
		}
	}
}

func (f *finder) statement(n ast.Stmt) {
	if b, ok := n.(*ast.BranchStmt); f.inHead() || ok && b.Tok != token.BREAK && b.Tok != token.CONTINUE {
		return
	}
	f.around(Statement, n, "nothing", "if !musterAwake(#) { ", " }")
}

func (f *finder) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE {
		return
	}
	f.statement(n)
	if other, ok := map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.OR_ASSIGN: "&=", token.AND_ASSIGN: "|=", token.AND_NOT_ASSIGN: "&=", token.MUL_ASSIGN: "+="}[n.Tok]; ok && f.isNumber(n.Lhs[0]) {
		f.replace(Arithmetic, n, f.text(n.Lhs[0])+" "+other+" "+f.text(n.Rhs[0]))
	}
}

// inHead says whether the statement stands in the head of another one, where a block cannot stand.
func (f *finder) inHead() bool {
	switch f.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return false
	}
	return true
}

// replace has another statement take the place of one.
func (f *finder) replace(k Kind, n ast.Stmt, is string) {
	if !f.inHead() {
		f.around(k, n, is, "if musterAwake(#) { "+is+" } else { ", " }")
	}
}

var otherComparison = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
}

var otherArithmetic = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.QUO: token.MUL, token.OR: token.AND, token.AND: token.OR, token.AND_NOT: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL,
}

func (f *finder) binary(n *ast.BinaryExpr) {
	if f.isConst(n) {
		return
	}
	switch n.Op {
	case token.LAND, token.LOR:
		for _, side := range []ast.Expr{n.X, n.Y} {
			if inner, ok := side.(*ast.BinaryExpr); ok && inner.Op == n.Op || f.silent(side) {
				continue // its own operands are dropped one by one
			}
			if n.Op == token.LAND {
				f.around(Operand, side, "true", "musterOr(#, ", ")")
			} else {
				f.around(Operand, side, "false", "musterAnd(#, ", ")")
			}
		}
	case token.EQL, token.NEQ:
		if !f.isCondition(n) { // there it would be between "always" and "never"
			f.around(Comparison, n, f.text(n.X)+" "+otherComparison[n.Op].String()+" "+f.text(n.Y), "((", ") != musterAwake(#))")
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		is := f.text(n.X) + " " + otherComparison[n.Op].String() + " " + f.text(n.Y)
		if f.pure(n) {
			f.around(Comparison, n, is, "musterSwap(#, "+f.raw(n.X)+otherComparison[n.Op].String()+f.raw(n.Y)+", ", ")")
			return
		}
		f.around(Comparison, n, is, "(musterAwake(#) && ("+f.raw(n.X)+otherComparison[n.Op].String()+f.raw(n.Y)+") || !musterAwake(#) && (", "))")
	default:
		other, ok := otherArithmetic[n.Op]
		if ok && f.isNumber(n) {
			f.pickRaw(Arithmetic, n, f.text(n.X)+" "+other.String()+" "+f.text(n.Y), f.raw(n.X)+other.String()+"("+f.raw(n.Y)+")")
		}
	}
}

// pure says whether the expression may be evaluated twice: it calls nothing but len.
func (f *finder) pure(e ast.Expr) bool {
	pure := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			pure = pure && (ok && id.Name == "len" || f.s.info.Types[n.Fun].IsType())
		case *ast.FuncLit:
			pure = false
		}
		return pure
	})
	return pure
}

// isCondition says whether the node is a whole condition.
func (f *finder) isCondition(n ast.Expr) bool {
	switch p := f.parent().(type) {
	case *ast.IfStmt:
		return p.Cond == n
	case *ast.ForStmt:
		return p.Cond == n
	case *ast.ReturnStmt:
		return true
	case *ast.CaseClause:
		return f.isBool(n)
	}
	return false
}

func (f *finder) around(k Kind, n ast.Node, is, before, after string) {
	f.add(k, f.text(n), is, n.Pos(), n.End(), before, after)
}

// add adds a mutant; # stands for its number.
func (f *finder) add(k Kind, was, is string, from, to token.Pos, before, after string) {
	if !kindsOf[f.s.part][k] {
		return
	}
	*f.next++
	number := fmt.Sprint(*f.next)
	f.found = append(f.found, Mutant{
		ID: *f.next, File: f.file.path, Func: f.fn, Kind: k, Was: was, Is: is, Early: f.value && f.lits == 0,
		wrap: wrap{f.s.at(from), f.s.at(to), strings.ReplaceAll(before, "#", number), strings.ReplaceAll(after, "#", number)},
	})
}

func (f *finder) raw(n ast.Node) string {
	return string(f.file.text[f.s.at(n.Pos()):f.s.at(n.End())])
}

func (f *finder) text(n ast.Node) string { return oneLine(f.raw(n)) }

func (f *finder) isBool(e ast.Expr) bool {
	t := f.s.info.TypeOf(e)
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func (f *finder) isConst(e ast.Expr) bool { return f.s.info.Types[e].Value != nil }

func (f *finder) isNumber(e ast.Expr) bool {
	t := f.s.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}
