//! Tests of names, routes and refusals.

use super::*;

#[test]
fn names_are_found_as_a_person_writes_them() {
    let shape = Shape::default();
    for name in
        ["forward state", "## Forward  State ##", "1. FORWARD STATE:", "next steps", "forward"]
    {
        assert_eq!(shape.find(name), Some(0), "{name}");
    }
    for name in ["Assumptions and Risks", "assumptions&risks", "Assumptions & Risks:", "risks"] {
        assert_eq!(shape.find(name), Some(2), "{name}");
    }
    for name in ["", "##", "Forward", "Forwards State", "custom", "1"] {
        assert_eq!(shape.find_heading(name), None, "{name}");
    }
}

#[test]
fn routes_follow_a_renamed_section() {
    let mut shape = Shape::default();
    shape.sections[1].name = "Loose Ends".to_owned();
    assert_eq!(shape.route("Gotcha"), Some(1));
    assert_eq!(shape.route("nonsense"), None);
    assert_eq!(shape.validate(), Ok(()));
}

#[test]
fn wrong_shapes_are_named() {
    let mut shape = Shape::default();
    shape.routes.insert("idea".to_owned(), "Ideas".to_owned());
    assert!(shape.validate().expect_err("no such section").to_string().contains("\"Ideas\""));
    let mut shape = Shape::default();
    shape.sections[1].aliases.push("forward-state".to_owned());
    assert_eq!(shape.validate(), Err(ShapeError::Twice("forward-state".to_owned())));
    let mut shape = Shape::default();
    shape.sections[1].name = "a\nb".to_owned();
    assert_eq!(shape.validate(), Err(ShapeError::Name("a\nb".to_owned())));
    assert_eq!(Shape::none().validate(), Err(ShapeError::Empty));
    for (slice, good) in [(0.2, true), (1.0, true), (0.0, false), (1.5, false), (f64::NAN, false)] {
        let mut shape = Shape::default();
        shape.sections[2].slice = Some(slice);
        assert_eq!(shape.validate().is_ok(), good, "{slice}");
    }
}

#[test]
fn reads_settings_that_name_only_a_part() {
    let text = r#"{"sections":[{"name":"Decision Log"}]}"#;
    let shape: Shape = serde_json::from_str(text).expect("settings");
    assert_eq!(shape.sections[0].role, Role::Custom);
    assert_eq!(shape.routes, Shape::default().routes);
    assert_eq!(shape.validate(), Ok(()));
    assert_eq!(shape.route("risk"), Some(0), "no such role here: home");
    assert_eq!(shape.route(NEXT), Some(0), "and no forward section");
    assert!(shape.kinds_by_section().starts_with("next, assumption, "), "{shape:?}");
}

#[test]
fn kinds_of_ones_own_stand_beside_the_usual_ones() {
    let text = r#"{"sections":[{"name":"Offen","role":"threads"},{"name":"Zitate","slice":0.2}],
        "routes":{"Citation":"Zitate","risk":"Zitate"}}"#;
    let shape: Shape = serde_json::from_str(text).expect("settings");
    assert_eq!(shape.validate(), Ok(()));
    assert_eq!((shape.route("citation"), shape.route("thread")), (Some(1), Some(0)));
    assert_eq!(shape.kinds(1).collect::<Vec<_>>(), ["citation", "risk"]);
    let kinds = shape.kinds_by_section();
    assert!(kinds.ends_with("(Offen); citation, risk (Zitate)"), "{kinds}");
    assert!(serde_json::from_str::<Shape>(r#"{"sections":[{"name":"A","aliasses":[]}]}"#).is_err());
}
