// Prints what use.rs and use.mjs print.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"fovea"
)

func check[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	model := check(fovea.Open(os.Args[1], "", 1))
	defer model.Close()
	fmt.Println("inputs", strings.Join(model.Inputs(), " "))
	fmt.Println("about", check(model.About()).Model == "rnnsearch")

	lines := []string{"ein Haus", "Baum Baum ein", "ein nie"}
	for _, example := range check(model.Text(lines, fovea.Search{Beam: 3, MaxLength: 6}, nil)) {
		fmt.Printf("%.6f\t%s\n", example[0].LogP, example[0].Text)
	}

	search := fovea.Search{Beam: 1, MaxLength: 6, MinLength: 4}
	var symbols []string
	result := check(model.Text(lines[:1], search, func(heard fovea.Heard) bool {
		if heard.Symbol != "</s>" {
			symbols = append(symbols, heard.Symbol)
		}
		return true
	}))
	fmt.Println("heard all", strings.Join(symbols, " ") == result[0][0].Text)
	count := 0
	check(model.Text(lines[:1], search, func(fovea.Heard) bool {
		count++
		return count < 2
	}))
	fmt.Println("ended after", count)
	_, err := model.Text(lines[:1], search, func(fovea.Heard) bool {
		model.Cancel()
		return true
	})
	var failed *fovea.Error
	fmt.Printf("%t: %s\n", errors.As(err, &failed) && failed.Kind == fovea.Cancelled, err)
	func() {
		defer func() { fmt.Println(recover()) }()
		model.Text(lines[:1], search, func(fovea.Heard) bool { panic("thrown") })
	}()

	lengths := []int64{3, 3}
	src, tgt := []int64{3, 4, 1, 3, 5, 1}, []int64{3, 4, 1, 3, 6, 1}
	batch := []fovea.Array{
		{Name: "src", Shape: []int64{2, 3}, Values: src},
		{Name: "src.length", Shape: []int64{2}, Values: lengths},
		{Name: "tgt", Shape: []int64{2, 3}, Values: tgt},
		{Name: "tgt.length", Shape: []int64{2}, Values: lengths},
	}
	_, logp, err := model.Loss(batch)
	fmt.Printf("log p %.6f %.6f\n", check(logp, err)[0], logp[1])
	align := check(model.Run(batch, "align"))["align"][1]
	fmt.Printf("align [%d, %d] %.6f\n", align.Shape[0], align.Shape[1], align.Values[0]+align.Values[1]+align.Values[2])
	fmt.Println("decoded", len(check(model.Decode(batch[:2], 0, search, nil))))

	_, _, err = model.Loss(batch[:2])
	fmt.Println(err)
	_, _, err = model.Loss([]fovea.Array{{Name: "src", Shape: []int64{2, 2}, Values: src}})
	fmt.Println(strings.Replace(err.Error(), "[2 2]", "[2, 2]", 1))
	_, err = model.Text([]string{"a\x00b"}, search, nil)
	fmt.Println(strings.Replace(strings.Replace(err.Error(), `\x00`, `\0`, 1), `"`, "'", 2))
	_, err = model.Run(batch, "nothing")
	fmt.Println(err)
	search.Prefixes = []string{"a", "a"}
	_, err = model.Text(lines, search, nil)
	fmt.Println(err)
	_, err = fovea.Open("nowhere.so", "", 0)
	fmt.Println(err)
}
